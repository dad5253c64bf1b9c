package top

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// control asks for the change of a pool that the key stands for. It returns false for any other key.
func control(m *Model, p *weirdebug.Pool, key string) (tea.Cmd, bool) {
	switch key {
	default:
		return nil, false
	case "p", "+", "-", "l":
	}
	switch {
	case p == nil:
		m.note = "there is no pool to change"
	case !m.control:
		m.note = "the server does not allow changes: its handler is made without weirdebug.Control"
	case key == "p":
		m.prompt = askPause(m, p)
	default:
		m.prompt = askLimit(m, p, map[string]int{"+": 1, "-": -1}[key])
	}
	return nil, true
}

func askPause(m *Model, p *weirdebug.Pool) *prompt {
	do, done := "pause", "paused"
	if p.Stats.Paused {
		do, done = "resume", "resumed"
	}
	query, name := poolQuery(p.ID), text.Clean(title(p), 40)
	return &prompt{question: fmt.Sprintf("Shall pool %s be %s? (y/n)", name, done), enter: func(line string) (string, tea.Cmd) {
		switch line {
		case "y", "Y", "yes":
			return "", m.change(query, url.Values{"do": {do}}, fmt.Sprintf("pool %s is %s", name, done))
		case "n", "N", "no", "":
			return "", nil
		}
		return "y or n", nil
	}}
}

func askLimit(m *Model, p *weirdebug.Pool, by int) *prompt {
	query, name := poolQuery(p.ID), text.Clean(title(p), 40)
	ask := &prompt{question: fmt.Sprintf("New limit of pool %s, which has %d (Enter sets it, Esc does not):", name, p.Stats.Limit)}
	if by != 0 {
		ask.line = strconv.Itoa(max(1, min(p.Stats.Limit, math.MaxInt-max(0, by))+by)) // the limit may be weir.Unbounded
	}
	ask.enter = func(line string) (string, tea.Cmd) {
		limit, err := strconv.Atoi(line)
		if err != nil || limit < 1 {
			return "must be a number, 1 or more", nil
		}
		return "", m.change(query, url.Values{"do": {"resize"}, "limit": {strconv.Itoa(limit)}}, fmt.Sprintf("pool %s has the limit %d", name, limit))
	}
	return ask
}

// change changes a pool, even if the screen shows something else meanwhile.
func (m *Model) change(query, form url.Values, note string) tea.Cmd {
	m.note = "asking the server…"
	return func() tea.Msg { return doneMsg{note, m.client.Post(m.ctx, query, form)} }
}

func poolQuery(id uint64) url.Values { return url.Values{"pool": {strconv.FormatUint(id, 10)}} }
