package top

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// stack is the screen of one task: its stack. The model asks only once, because a stack stops the program for
// a moment.
type stack struct {
	common
	of     rowKey
	title  string
	lines  []string
	offset int // the first visible column
}

// maxLines is the most lines of a stack that are shown.
const maxLines = 10000

func newStack(of rowKey) *stack {
	return &stack{common: common{list: list{chosen: -1}, still: true}, of: of, title: fmt.Sprintf("task of worker %d", of.worker)}
}

func (s *stack) query() url.Values {
	worker := []string{strconv.Itoa(s.of.worker)}
	if s.of.pool == 0 {
		return url.Values{"group": {strconv.FormatUint(s.of.group, 10)}, "worker": worker}
	}
	q := poolQuery(s.of.pool)
	q["worker"] = worker
	return q
}

func (s *stack) take(snapshot *weirdebug.Snapshot) error {
	s.lines = nil
	for _, task := range s.tasks(snapshot) {
		if task.Worker != s.of.worker {
			continue
		}
		head := fmt.Sprintf("task of worker %d, since %s", task.Worker, age(snapshot, task.Since))
		if task.Group != 0 {
			head += fmt.Sprintf(", group %d", task.Group)
		}
		if task.Waits != "" {
			head += ", waits: " + text.Clean(task.Waits, 20)
		}
		if task.Label != "" {
			head += ", " + text.Clean(task.Label, textWidth)
		}
		if len(s.lines) == 0 {
			s.title = head
		} else {
			s.lines = append(s.lines, "", head)
		}
		if task.Stack == "" {
			s.lines = append(s.lines, "The server knows no stack of it.")
		}
		for line := range strings.Lines(task.Stack) {
			if len(s.lines) == maxLines {
				break
			}
			s.lines = append(s.lines, strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
		}
	}
	if len(s.lines) == 0 {
		s.lines = []string{"The task has ended."}
	}
	keys := make([]rowKey, len(s.lines))
	for i := range keys {
		keys[i].line = i
	}
	s.set(keys)
	return nil
}

func (s *stack) tasks(snapshot *weirdebug.Snapshot) []weirdebug.Task {
	switch {
	case s.of.pool != 0 && len(snapshot.Pools) > 0:
		return snapshot.Pools[0].Running
	case s.of.pool == 0 && len(snapshot.Groups) > 0:
		return snapshot.Groups[0].Running
	}
	return nil
}

func (s *stack) draw(width, _ int) drawing {
	return drawing{
		head: []string{titles.Styled(text.Fit(s.title, width))},
		row:  func(i int) string { return text.Clean(cut(s.lines[i], s.offset), width) },
		keys: "↑ ↓ ← → scroll  r look again  Esc back  q quit",
	}
}

// cut removes the first runes of a line.
func cut(line string, runes int) string {
	for range runes {
		if line == "" {
			break
		}
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

func (s *stack) key(m *Model, key string) (tea.Cmd, bool) {
	const step = 8
	switch key {
	case "r":
		return m.fetch(), true
	case "right":
		s.offset = min(s.offset+step, 1000)
	case "left":
		s.offset = max(0, s.offset-step)
	default:
		return nil, false
	}
	return nil, true
}
