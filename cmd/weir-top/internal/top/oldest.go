package top

import (
	"fmt"
	"net/url"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// oldest is the screen of the tasks of all pools that have run longest.
type oldest struct {
	common
	asks     url.Values
	snapshot *weirdebug.Snapshot
}

func newOldest(asks url.Values) *oldest { return &oldest{asks: asks, snapshot: &weirdebug.Snapshot{}} }

func (s *oldest) query() url.Values { return s.asks }

func (s *oldest) take(snapshot *weirdebug.Snapshot) error {
	s.snapshot = snapshot
	keys := make([]rowKey, len(snapshot.Longest))
	for i, task := range snapshot.Longest {
		keys[i] = rowKey{pool: task.Pool, worker: task.Worker, group: task.Group}
	}
	s.set(keys)
	return nil
}

func (s *oldest) draw(width, _ int) drawing {
	title := "the oldest tasks"
	if n := s.snapshot.LongestLeftOut; n > 0 {
		title += fmt.Sprintf(" (%s left out)", plural(n, "younger one"))
	}
	label := max(0, (width-taskWidth-9)/2)
	return drawing{
		head: []string{
			bold.Styled(text.Clean(title, width)),
			titles.Styled(text.Clean(fmt.Sprintf("    POOL  WORKER    AGE    GROUP WAITS    %s AT", text.Fit("LABEL", label)), width)),
		},
		row: func(i int) string {
			task := &s.snapshot.Longest[i]
			pool := "-"
			if task.Pool != 0 {
				pool = fmt.Sprint(task.Pool)
			}
			return text.Clean(fmt.Sprintf("%s %s %s", text.Right(pool, 8), taskLine(s.snapshot, task, label), task.At), width)
		},
		keys: "Enter stack  Esc back  q quit",
	}
}

func (s *oldest) key(m *Model, key string) (tea.Cmd, bool) {
	if row, ok := s.pick(); ok && key == "enter" {
		return m.open(newStack(row)), true
	}
	return nil, false
}
