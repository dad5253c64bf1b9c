package weirdebug

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
)

// The most that one answer contains.
const (
	maxPools   = 500
	maxTasks   = 200  // running tasks of one pool
	maxLongest = 20   // tasks that have run longest
	maxGroups  = 1000 // groups, and running tasks of all these groups
	maxQueues  = 500
	maxStacks  = 4
	maxFor     = 5   // groups that one task waits for
	maxText    = 500 // bytes of a name or label
	maxStack   = 1 << 16
)

// defaultLonger is the default minimum age of a listed group: younger groups would be many, and would soon be gone.
const defaultLonger = 10 * time.Millisecond

// snapshot collects what v asks for. Only the page of all pools needs queues.
func (h *handler) snapshot(v view, queues []exporter.Queue) (*Snapshot, error) {
	h.rates.ask()
	s := &Snapshot{Time: time.Now(), Program: program(), Control: h.control != nil}
	groups := weir.Groups(v.groupsLonger())
	if !v.json {
		s.made = madeIn(groups)
	}
	switch v.page {
	case pagePools:
		h.allPools(s, v, groups)
		s.queues(v, queues)
		if v.json {
			s.groups(v, groups, none)
			break
		}
		for _, g := range groups { // counted only: the page has a link to the groups
			if v.matchesGroup(g) {
				s.GroupsLeftOut++
			}
		}
	case pageGroups:
		s.groups(v, groups, v.kin(groups))
		if v.group > 0 && s.Groups == nil {
			return nil, fail(http.StatusNotFound, "there is no group %d of those that were asked for; it may have ended", v.group)
		}
	case pagePool:
		pool, err := find(v.pool)
		if err != nil {
			return nil, err
		}
		s.Pools = []Pool{h.onePool(s, v, pool)}
		s.groups(v, groups, func(g weir.GroupInfo) bool { return g.Pool == v.pool || g.ParentPool == v.pool })
	case pageStack:
		if err := h.stack(s, v, groups); err != nil {
			return nil, err
		}
	}
	s.locate()
	return s, nil
}

// parent is a task in which groups were made.
type parent struct {
	group, pool uint64 // pool is 0 if group is not
	worker      int
}

func newParent(group, pool uint64, worker int) parent {
	if group > 0 {
		pool = 0
	}
	return parent{group, pool, worker}
}

// madeGroups are the groups that were made in one task: those that a goroutine waits for, or all if there are none.
type madeGroups struct {
	waits bool
	IDs   []uint64 // of the first maxFor groups
	More  int
}

// madeIn finds the groups that were made in each task.
func madeIn(groups []weir.GroupInfo) map[parent]*madeGroups {
	made := make(map[parent]*madeGroups)
	for _, g := range groups {
		if g.ParentWorker == 0 {
			continue
		}
		of, waits := newParent(g.Parent, g.ParentPool, g.ParentWorker), g.Waits != ""
		switch m := made[of]; {
		case m == nil || waits && !m.waits:
			made[of] = &madeGroups{waits: waits, IDs: []uint64{g.ID}}
		case m.waits && !waits:
		case len(m.IDs) < maxFor:
			m.IDs = append(m.IDs, g.ID)
		default:
			m.More++
		}
	}
	return made
}

// program names the running program.
var program = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return fmt.Sprintf("%s, process %d on %s", strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), os.Getpid(), host)
})

// find returns the pool with that ID.
func find(id uint64) (weir.PoolInfo, error) {
	for pool := range weir.Pools() {
		if pool.ID == id {
			return pool, nil
		}
	}
	return weir.PoolInfo{}, fail(http.StatusNotFound, "there is no pool %d; it may have been closed", id)
}

func (v view) groupsLonger() time.Duration {
	switch {
	case v.page == pageStack:
		return 0
	case v.hasLong || v.group > 0:
		return v.longer
	}
	return defaultLonger
}

func (v view) matches(texts ...string) bool {
	return v.lower == "" || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), v.lower) })
}

func (v view) matchesGroup(g weir.GroupInfo) bool { return v.matches(g.Name, g.Label, g.Made, g.Waits) }

// allPools adds the pools, those with lints first, and the tasks of the whole program that have run longest.
func (h *handler) allPools(s *Snapshot, v view, groups []weir.GroupInfo) {
	longest, least := new(longest), v.least()
	for pool, lints := range weir.Lints(v.slow) {
		matches := v.matches(pool.Name, pool.Kind, pool.Made)
		for _, r := range pool.Running(least) {
			if matches || v.matches(r.Label) {
				s.LongestLeftOut += longest.add(runningTask{r, pool.ID})
			}
		}
		if matches {
			p := described(pool, pool.Times())
			p.Lints = copyLints(lints)
			s.Pools = append(s.Pools, p)
		}
	}
	slices.SortStableFunc(s.Pools, func(a, b Pool) int { return len(b.Lints) - len(a.Lints) })
	if n := len(s.Pools) - maxPools; n > 0 {
		s.Pools, s.PoolsLeftOut = s.Pools[:maxPools], n
	}
	for i := range s.Pools {
		s.Pools[i].Throughput = h.rates.of(s.Pools[i].ID)
	}
	for _, g := range groups {
		if g.Pool != 0 || !v.matchesGroup(g) {
			continue
		}
		for _, r := range g.Running {
			if s.Time.Sub(r.Since) >= least {
				s.LongestLeftOut += longest.add(runningTask{r, 0})
			}
		}
	}
	slices.SortFunc(*longest, func(a, b runningTask) int { return a.Since.Compare(b.Since) })
	for _, r := range *longest {
		s.Longest = append(s.Longest, s.newTask(r))
	}
}

// queues adds the queues that v asks for, those with an error first.
func (s *Snapshot) queues(v view, list []exporter.Queue) {
	for _, q := range list {
		if !v.matches(q.Name, q.Server) {
			continue
		}
		c := q.Counts
		of := Queue{
			Name: clip(q.Name, maxText), Server: clip(q.Server, maxText), At: q.At,
			Waiting: c.Waiting, Leased: c.Leased, Redelivered: c.Redelivered, Dead: c.Dead, Later: c.Later, Accepted: c.Accepted, Oldest: c.Oldest.Seconds(),
		}
		if !q.At.IsZero() {
			of.At = s.since(q.At)
		}
		if q.Err != nil {
			// fmt survives a method Error that panics, such as that of a nil pointer.
			of.Error = cmp.Or(clip(fmt.Sprint(q.Err), maxText), "an error without a text")
		}
		s.Queues = append(s.Queues, of)
	}
	slices.SortStableFunc(s.Queues, func(a, b Queue) int { return -cmp.Compare(min(len(a.Error), 1), min(len(b.Error), 1)) })
	if n := len(s.Queues) - maxQueues; n > 0 {
		s.Queues, s.QueuesLeftOut = s.Queues[:maxQueues], n
	}
}

// longRun is how long a task must have run for its source line to be of interest.
const longRun = time.Second

// least returns how long a task must have run to be listed under Longest.
func (v view) least() time.Duration { return max(v.longer, longRun) }

// runningTask is a task and the ID of its pool: 0 for a plain goroutine or a worker of a group's own.
type runningTask struct {
	weir.Running
	pool uint64
}

// newTask describes a task, except for the line at which it is.
func (s *Snapshot) newTask(r runningTask) Task {
	return Task{
		Pool: r.pool, Worker: r.Worker, Label: clip(r.Label, maxText), Since: s.since(r.Since), Group: r.Group, Waits: r.Waits,
		running: &r.Running,
	}
}

// since returns t by the clock of s.Time: the wall clock may have been set since t.
func (s *Snapshot) since(t time.Time) time.Time { return s.Time.Add(-s.Time.Sub(t)) }

// locate adds the source lines of the tasks that have run for longRun. It takes at most one profile of all
// goroutines.
func (s *Snapshot) locate() {
	var tasks []*Task
	var running []weir.Running
	add := func(list []Task) {
		for i := range list {
			if t := &list[i]; s.Time.Sub(t.Since) >= longRun {
				tasks, running = append(tasks, t), append(running, *t.running)
			}
		}
	}
	add(s.Longest)
	for _, p := range s.Pools {
		add(p.Running)
	}
	for _, groups := range [][]Group{s.Groups, s.around} {
		for _, g := range groups {
			add(g.Running)
		}
	}
	for i, line := range weir.Lines(running) {
		tasks[i].At = clip(line, maxText)
	}
}

// longest is a heap of the tasks that have run longest, the youngest task at the top.
type longest []runningTask

func (l longest) Len() int           { return len(l) }
func (l longest) Less(i, j int) bool { return l[i].Since.After(l[j].Since) }
func (l longest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *longest) Push(t any)        { *l = append(*l, t.(runningTask)) }
func (l *longest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// add adds t, and returns how many tasks it dropped: 0 or 1.
func (l *longest) add(t runningTask) int {
	if heap.Push(l, t); len(*l) <= maxLongest {
		return 0
	}
	heap.Pop(l)
	return 1
}

// described returns what every answer says of a pool.
func described(pool weir.PoolInfo, times weir.Times) Pool {
	stats := pool.Stats()
	return Pool{
		ID: pool.ID, Name: clip(pool.Name, maxText), Kind: clip(pool.Kind, maxText), Made: clip(pool.Made, maxText), Stats: Stats(stats),
		Wait: durations(times.Wait), Run: durations(times.Run), Oldest: times.Oldest.Seconds(),
	}
}

// onePool returns all that is known of a pool.
func (h *handler) onePool(s *Snapshot, v view, pool weir.PoolInfo) Pool {
	times := pool.Times()
	p := described(pool, times)
	p.Wait.Buckets, p.Run.Buckets = buckets(times.Wait), buckets(times.Run)
	p.Throughput = h.rates.of(pool.ID)
	p.Lints = copyLints(pool.Lints(v.slow))
	for _, r := range pool.Running(v.longer) {
		switch {
		case !v.matches(r.Label):
		case len(p.Running) == maxTasks:
			p.RunningLeftOut++
		default:
			p.Running = append(p.Running, s.newTask(runningTask{r, pool.ID}))
		}
	}
	return p
}

func copyLints(lints []weir.Lint) (list []Lint) {
	for _, l := range lints {
		list = append(list, Lint(l))
	}
	return list
}

func durations(h weir.Histogram) Durations {
	return Durations{Count: h.Count(), Sum: h.Sum(), P50: h.Quantile(0.5).Seconds(), P99: h.Quantile(0.99).Seconds()}
}

func buckets(h weir.Histogram) (list []Bucket) {
	for i, count := range h.Buckets() {
		list = append(list, Bucket{math.Exp2(float64(i) / 4), count})
	}
	return list
}

// stack adds the tasks of one worker, usually a single one, with their stacks.
func (h *handler) stack(s *Snapshot, v view, groups []weir.GroupInfo) error {
	var running []weir.Running
	if v.pool > 0 {
		pool, err := find(v.pool)
		if err != nil {
			return err
		}
		running = pool.Running(0)
		s.Pools = []Pool{described(pool, pool.Times())}
	} else {
		i := slices.IndexFunc(groups, func(g weir.GroupInfo) bool { return g.ID == v.group })
		if i < 0 {
			return fail(http.StatusNotFound, "there is no group %d; it may have ended", v.group)
		}
		running = slices.Clone(groups[i].Running) // the page shows those of the group as well
		s.Groups = []Group{s.newGroup(groups[i])}
	}
	running = slices.DeleteFunc(running, func(r weir.Running) bool { return r.Worker != v.worker })
	var tasks []Task
	for _, r := range running[:min(len(running), maxStacks)] {
		if stack := r.Stack(); stack != "" {
			t := s.newTask(runningTask{r, v.pool})
			t.Stack = clip(stack, maxStack)
			tasks = append(tasks, t)
		}
	}
	if tasks == nil {
		return fail(http.StatusNotFound, "worker %d runs no task; it may have ended", v.worker)
	}
	leftOut := max(0, len(running)-maxStacks)
	if v.pool > 0 {
		s.Pools[0].Running, s.Pools[0].RunningLeftOut = tasks, leftOut
	} else {
		s.Groups[0].Running, s.Groups[0].LeftOut = tasks, leftOut
	}
	if of := (view{group: tasks[0].Group}); of.group > 0 && !v.json {
		kin := Snapshot{Time: s.Time}
		kin.groups(of, groups, of.kin(groups))
		s.around, s.GroupsLeftOut = kin.Groups, kin.GroupsLeftOut
	}
	return nil
}

// none is the group filter that keeps all groups.
var none func(weir.GroupInfo) bool

// kin returns a filter that keeps the group that v asks for and its descendants: the groups made in its
// tasks, and in their tasks.
func (v view) kin(list []weir.GroupInfo) func(weir.GroupInfo) bool {
	if v.group == 0 {
		return none
	}
	children := make(map[uint64][]uint64)
	for _, g := range list {
		children[g.Parent] = append(children[g.Parent], g.ID)
	}
	kin := make(map[uint64]bool)
	for todo := []uint64{v.group}; len(todo) > 0; {
		id := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !kin[id] {
			kin[id] = true
			todo = append(todo, children[id]...)
		}
	}
	return func(g weir.GroupInfo) bool { return kin[g.ID] }
}

func (s *Snapshot) newGroup(g weir.GroupInfo) Group {
	return Group{
		ID: g.ID, Pool: g.Pool, Name: clip(g.Name, maxText), Label: clip(g.Label, maxText), Made: clip(g.Made, maxText),
		Waits: clip(g.Waits, maxText), Since: s.since(g.Since),
		Parent: g.Parent, ParentPool: g.ParentPool, ParentWorker: g.ParentWorker, Tasks: g.Tasks,
	}
}

// groups adds the groups that keep accepts and v asks for, and their ancestors; the oldest first, at most
// maxGroups.
func (s *Snapshot) groups(v view, list []weir.GroupInfo, keep func(weir.GroupInfo) bool) {
	byID := make(map[uint64]int, len(list))
	for i, g := range list {
		byID[g.ID] = i
	}
	counted, shown := make([]bool, len(list)), make([]bool, len(list))
	kept := 0
	for i, g := range list {
		if keep != nil && !keep(g) || !v.matchesGroup(g) {
			continue
		}
		for exists := true; exists && !counted[i]; i, exists = byID[list[i].Parent] {
			if counted[i] = true; kept == maxGroups {
				s.GroupsLeftOut++
				continue
			}
			shown[i] = true
			kept++
		}
	}
	room := maxGroups // for running tasks
	for i, g := range list {
		if !shown[i] {
			continue
		}
		n := min(len(g.Running), room)
		room -= n
		of := s.newGroup(g)
		of.LeftOut = len(g.Running) - n
		for _, r := range g.Running[:n] {
			of.Running = append(of.Running, s.newTask(runningTask{r, g.Pool}))
		}
		s.Groups = append(s.Groups, of)
	}
}

// clip returns at most the first n bytes of text, as valid UTF-8.
func clip(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
