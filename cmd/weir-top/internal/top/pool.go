package top

import (
	"fmt"
	"net/url"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// pool is the screen of one pool.
type pool struct {
	common
	data     weirdebug.Pool
	snapshot *weirdebug.Snapshot
}

// newPool shows what is known of the pool until the first answer comes.
func newPool(p weirdebug.Pool) *pool {
	return &pool{data: p, snapshot: &weirdebug.Snapshot{}}
}

func (s *pool) query() url.Values { return poolQuery(s.data.ID) }

func (s *pool) take(snapshot *weirdebug.Snapshot) error {
	if n := len(snapshot.Pools); n != 1 {
		return fmt.Errorf("the server answers with %s", plural(n, "pool"))
	}
	s.snapshot, s.data = snapshot, snapshot.Pools[0]
	keys := make([]rowKey, len(s.data.Running))
	for i, task := range s.data.Running {
		keys[i] = rowKey{pool: s.data.ID, worker: task.Worker, group: task.Group}
	}
	s.set(keys)
	return nil
}

func (s *pool) draw(width, height int) drawing {
	p := &s.data
	st := &p.Stats
	state := ""
	if st.Throttled {
		state += "  THROTTLED"
	}
	if st.Paused {
		state += "  PAUSED"
	}
	if st.Closed {
		state += "  CLOSED"
	}
	name := p.Kind
	if p.Name != "" {
		name = text.Clean(p.Name, 40) + "  " + p.Kind
	}
	head := []string{bold.Styled(text.Clean(fmt.Sprintf("pool %d  %s  %s%s", p.ID, text.Clean(name, max(20, width-30)), short(p.Made), state), width))}
	count := func(pairs ...any) {
		var parts []string
		for i := 0; i < len(pairs); i += 2 {
			parts = append(parts, fmt.Sprintf("%v %v", pairs[i], pairs[i+1]))
		}
		head = append(head, text.Clean(strings.Join(parts, "  "), width))
	}
	n := text.Count[int]
	u := text.Count[uint64]
	count("limit", n(st.Limit), "workers", n(st.Workers), "running", n(st.Running), "suspended", n(st.Suspended), "returning", n(st.Returning),
		"extra", n(st.Extra), "idle", n(st.Idle))
	count("queued", n(st.Queued), "waiters", n(st.Waiting), "timers", n(st.Timers), "oldest", text.Duration(p.Oldest), "tasks/s", text.Count(rate(p))+" "+text.Spark(p.Throughput, 30))
	count("accepted", u(st.Accepted), "finished", u(st.Finished), "handed back", u(st.HandedBack), "rejected", u(st.Rejected), "panicked", u(st.Panicked))
	if room := height - len(head) - 8; room >= histogramHeight {
		head = append(head, histograms(p, width, room >= 2*histogramHeight)...)
	}
	for i := range p.Lints {
		if len(head)+8 > height {
			break
		}
		head = append(head, lintLine(p.Lints[i:i+1], width))
	}
	left := ""
	if p.RunningLeftOut > 0 {
		left = fmt.Sprintf(" (%d more tasks are left out)", p.RunningLeftOut)
	}
	label := max(0, width-taskWidth)
	return drawing{
		head: append(head, titles.Styled(text.Clean(fmt.Sprintf(" WORKER    AGE    GROUP WAITS    %s", text.Fit("LABEL"+left, label)), width))),
		row: func(i int) string {
			return text.Clean(taskLine(s.snapshot, &p.Running[i], label), width)
		},
		keys: "Enter stack  t groups  p pause  + - l limit  Esc back  q quit",
	}
}

// taskWidth is the width of the columns before the label of a task.
const taskWidth = 33

func taskLine(snapshot *weirdebug.Snapshot, task *weirdebug.Task, label int) string {
	group := "-"
	if task.Group != 0 {
		group = fmt.Sprint(task.Group)
	}
	return fmt.Sprintf("%s %s %s %s %s", text.Right(fmt.Sprint(task.Worker), 7), text.Right(age(snapshot, task.Since), 6), text.Right(group, 8),
		text.Fit(task.Waits, 8), text.Fit(task.Label, label))
}

func (s *pool) key(m *Model, key string) (tea.Cmd, bool) {
	switch key {
	case "enter":
		if row, ok := s.pick(); ok {
			return m.open(newStack(row)), true
		}
	case "t":
		return m.open(newTree(title(&s.data), &s.data)), true
	default:
		return control(m, &s.data, key)
	}
	return nil, true
}
