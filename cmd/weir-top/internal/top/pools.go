package top

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// pools is the screen of all pools.
type pools struct {
	common
	page     string // the URL, as shown
	find     string
	sorted   int // the number of the column that sorts the rows; -1 is the name
	reversed bool
	name     int // width of the name column
	snapshot *weirdebug.Snapshot
}

const unsorted = -1

func newPools(page, find string) *pools {
	const queued = 3
	return &pools{page: page, find: find, sorted: queued, snapshot: &weirdebug.Snapshot{}}
}

func (s *pools) query() url.Values {
	if s.find == "" {
		return nil
	}
	return url.Values{"find": {s.find}}
}

func (s *pools) take(snapshot *weirdebug.Snapshot) error {
	s.snapshot, s.name = snapshot, widest(snapshot.Pools, maxName)
	s.sort()
	return nil
}

func (s *pools) sort() {
	slices.SortStableFunc(s.snapshot.Pools, func(a, b weirdebug.Pool) int {
		by := 0
		if s.sorted != unsorted {
			by = columns[s.sorted].order(&a, &b)
		}
		by = cmp.Or(by, byName(&a, &b))
		if s.reversed {
			return -by
		}
		return by
	})
	keys := make([]rowKey, len(s.snapshot.Pools))
	for i := range keys {
		keys[i].pool = s.snapshot.Pools[i].ID
	}
	s.set(keys)
}

func (s *pools) draw(width, _ int) drawing {
	shown, name := fitting(width, s.name, s.sorted)
	d := drawing{
		head: []string{s.title(width), text.Clean(totals(s.snapshot, s.find), width), titles.Styled(s.titles(shown, name, width))},
		row:  func(i int) string { return poolLine(&s.snapshot.Pools[i], shown, name, width) },
		keys: "Enter open  s S r sort  / find  t groups  o oldest  p pause  + - l limit  q quit",
	}
	remark := oldestLine(s.snapshot, width)
	if i := s.chosen; i < len(s.snapshot.Pools) && len(s.snapshot.Pools[i].Lints) > 0 {
		remark = lintLine(s.snapshot.Pools[i].Lints, width)
	}
	d.head = slices.Insert(d.head, 2, remark)
	if line := queuesLine(s.snapshot); line != "" {
		d.head = slices.Insert(d.head, 2, text.Clean(line, width))
	}
	return d
}

func (s *pools) title(width int) string {
	clock := ""
	if !s.at.IsZero() {
		clock = s.snapshot.Time.Format(" 15:04:05")
	}
	return bold.Styled(text.Fit("weir top  "+s.page, width-len(clock)) + text.Clean(clock, width))
}

// totals returns the sums over all pools.
func totals(snapshot *weirdebug.Snapshot, find string) string {
	var running, queued, waiting int
	var tasks float64
	for i := range snapshot.Pools {
		p := &snapshot.Pools[i]
		running, queued, waiting, tasks = running+p.Stats.Running, queued+p.Stats.Queued, waiting+p.Stats.Waiting, tasks+rate(p)
	}
	line := plural(len(snapshot.Pools), "pool")
	if find != "" {
		line += fmt.Sprintf(" with %q", find)
	}
	if snapshot.PoolsLeftOut > 0 {
		line += fmt.Sprintf(" (%d more are left out)", snapshot.PoolsLeftOut)
	}
	return line + fmt.Sprintf(", %s running, %s queued, %s, %s tasks/s",
		text.Count(running), text.Count(queued), plural(waiting, "waiter"), text.Count(tasks))
}

// queuesLine returns the sums over all queues; "" if there are none.
func queuesLine(snapshot *weirdebug.Snapshot) string {
	var waiting, leased, dead, later, silent int
	oldest, why := 0.0, ""
	for i := range snapshot.Queues {
		q := &snapshot.Queues[i]
		if q.Error != "" {
			if silent++; why == "" {
				why = q.Name + ": " + q.Error
			}
			continue
		}
		waiting, leased, dead, later, oldest = waiting+q.Waiting, leased+q.Leased, dead+q.Dead, later+q.Later, max(oldest, q.Oldest)
	}
	all := len(snapshot.Queues)
	if all == 0 {
		return ""
	}
	line := plural(all, "queue")
	if silent < all {
		line += fmt.Sprintf(", %s waiting, %s leased, %s dead", text.Count(waiting), text.Count(leased), text.Count(dead))
	}
	if later > 0 {
		line += fmt.Sprintf(", %s for later", text.Count(later))
	}
	if oldest > 0 {
		line += ", oldest " + text.Duration(oldest)
	}
	switch {
	case silent == 1:
		line += "; ! " + why
	case silent > 1:
		line += fmt.Sprintf("; ! %d do not answer, such as %s", silent, why)
	}
	return line
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return text.Count(n) + " " + what + "s"
}

func lintLine(lints []weirdebug.Lint, width int) string {
	line := "! " + lints[0].Rule + ": " + lints[0].Text
	if len(lints) > 1 {
		line = fmt.Sprintf("! (1 of %d) %s: %s", len(lints), lints[0].Rule, lints[0].Text)
	}
	return alarm.Styled(text.Clean(line, width))
}

func oldestLine(snapshot *weirdebug.Snapshot, width int) string {
	if len(snapshot.Longest) == 0 {
		return ""
	}
	task := &snapshot.Longest[0]
	return text.Clean(fmt.Sprintf("oldest task: %s  %s  %s", age(snapshot, task.Since), task.At, task.Label), width)
}

// titles returns the line with the titles of the columns, the sorted one marked.
func (s *pools) titles(shown []int, name, width int) string {
	mark := "▼"
	if s.reversed {
		mark = "▲"
	}
	first := "  NAME"
	if s.sorted == unsorted {
		first = mark + " NAME"
	}
	parts := []string{text.Fit(first, name+2)}
	for _, i := range shown {
		before := " "
		if i == s.sorted {
			before = mark
		}
		parts = append(parts, before, text.Right(columns[i].title, columns[i].width))
	}
	return text.Clean(strings.Join(parts, ""), width)
}

// poolLine returns the line of a pool. Its first cell is a mark: ! for a lint, P for paused, T for throttled,
// C for closed.
func poolLine(p *weirdebug.Pool, shown []int, name, width int) string {
	mark := " "
	switch {
	case len(p.Lints) > 0:
		mark = "!"
	case p.Stats.Paused:
		mark = "P"
	case p.Stats.Throttled:
		mark = "T"
	case p.Stats.Closed:
		mark = "C"
	}
	var b strings.Builder
	b.WriteString(mark + " " + text.Fit(title(p), name))
	for _, i := range shown {
		b.WriteString(" " + text.Right(columns[i].text(p), columns[i].width))
	}
	line := text.Clean(b.String(), width)
	if len(p.Lints) > 0 {
		return alarm.Styled(line)
	}
	return line
}

func (s *pools) key(m *Model, key string) (tea.Cmd, bool) {
	switch key {
	case "s", ">", "right":
		s.sortBy(1)
	case "S", "<", "left":
		s.sortBy(-1)
	case "r":
		s.reversed = !s.reversed
		s.sort()
	case "/":
		m.prompt = &prompt{question: "Find in names, kinds and places:", line: s.find, hint: "", enter: func(line string) (string, tea.Cmd) {
			return "", s.search(m, line)
		}}
	case "esc":
		return s.search(m, ""), true
	case "t":
		return m.open(newTree(s.page, nil)), true
	case "o":
		return m.open(newOldest(s.query())), true
	case "enter":
		if p := s.pool(); p != nil {
			return m.open(newPool(*p)), true
		}
	default:
		return control(m, s.pool(), key)
	}
	return nil, true
}

// sortBy sorts by another column.
func (s *pools) sortBy(step int) {
	for {
		s.sorted = (s.sorted+1+step+len(columns)+1)%(len(columns)+1) - 1
		if s.sorted == unsorted || columns[s.sorted].order != nil {
			break
		}
	}
	s.sort()
}

func (s *pools) search(m *Model, find string) tea.Cmd {
	if find == s.find {
		return nil
	}
	s.find = find
	return m.fetch()
}

// pool returns the pool of the chosen row; nil if there is none.
func (s *pools) pool() *weirdebug.Pool {
	if _, ok := s.pick(); !ok {
		return nil
	}
	return &s.snapshot.Pools[s.chosen]
}
