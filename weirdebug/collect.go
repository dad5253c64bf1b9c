package weirdebug

import (
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
)

// What one answer has at most.
const (
	maxPools   = 500
	maxTasks   = 200  // of one pool
	maxLongest = 20   // that have run for longest
	maxGroups  = 1000 // and as many tasks of them
	maxStacks  = 4
	maxText    = 500 // bytes of a name or label
	maxStack   = 1 << 16
)

// defaultLonger is for how long a group has been there, by default, that an answer lists: short ones would be many, and gone at once.
const defaultLonger = 10 * time.Millisecond

// snapshot collects what v asks for.
func (h *handler) snapshot(v view) (*Snapshot, error) {
	h.rates.ask()
	s := &Snapshot{Time: time.Now(), Program: program(), Control: h.control != nil}
	longer := v.groupsLonger()
	groups := weir.Groups(longer)
	if !v.json {
		s.made = madeIn(groups)
	}
	switch v.page {
	case pagePools:
		h.allPools(s, v, groups)
		if v.json {
			s.groups(v, groups, none)
		} else {
			s.GroupsLeftOut = len(groups) // the page has a link to them
		}
	case pageGroups:
		s.groups(v, groups, v.kin(groups))
		if v.group > 0 && s.Groups == nil {
			return nil, fail(http.StatusNotFound, "there is no group %d; it may have ended", v.group)
		}
	case pagePool:
		pool, err := find(v.pool)
		if err != nil {
			return nil, err
		}
		s.Pools = []Pool{h.onePool(s, v, pool)}
		s.groups(v, groups, func(g weir.GroupInfo) bool { return g.Pool == v.pool || g.ParentPool == v.pool })
	case pageStack:
		return s, h.stack(s, v, groups)
	}
	return s, nil
}

// parent is a task in which groups were made.
type parent struct {
	group, pool uint64 // the pool is 0 if there is a group
	worker      int
}

func newParent(group, pool uint64, worker int) parent {
	if group > 0 {
		pool = 0
	}
	return parent{group, pool, worker}
}

// madeIn finds the groups that were made in tasks.
func madeIn(groups []weir.GroupInfo) map[parent][]uint64 {
	made := make(map[parent][]uint64)
	for _, g := range groups {
		if g.ParentWorker > 0 {
			p := newParent(g.Parent, g.ParentPool, g.ParentWorker)
			made[p] = append(made[p], g.ID)
		}
	}
	return made
}

// program names the program that runs.
var program = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return fmt.Sprintf("%s, process %d on %s", strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), os.Getpid(), host)
})

// find returns the pool of that ID.
func find(id uint64) (weir.PoolInfo, error) {
	for pool := range weir.Pools() {
		if pool.ID == id {
			return pool, nil
		}
	}
	return weir.PoolInfo{}, fail(http.StatusNotFound, "there is no pool %d; it may have been closed", id)
}

func (v view) groupsLonger() time.Duration {
	if v.hasLong || v.group > 0 || v.page == pageStack {
		return v.longer
	}
	return defaultLonger
}

func (v view) matches(texts ...string) bool {
	return v.find == "" || slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(v.find))
	})
}

// allPools lists the pools, those first that need to be looked at, and the tasks of the program that have run for longest.
func (h *handler) allPools(s *Snapshot, v view, groups []weir.GroupInfo) {
	longest, least := new(longest), max(v.longer, longRun)
	for pool, lints := range weir.Lints(v.slow) {
		matches := v.matches(pool.Name, pool.Kind, pool.Made)
		for _, r := range pool.Running(least) {
			if matches || v.matches(r.Label) {
				longest.add(runningTask{r, pool.ID})
			}
		}
		if matches {
			p := described(pool)
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
		if g.Pool != 0 || !v.matches(g.Name, g.Label, g.Made, g.Waits) {
			continue
		}
		for _, r := range g.Running {
			if s.Time.Sub(r.Since) >= least {
				longest.add(runningTask{r, 0})
			}
		}
	}
	slices.SortFunc(*longest, func(a, b runningTask) int { return a.Since.Compare(b.Since) })
	s.Longest = s.tasks(*longest)
}

// longRun is how long a task has run that is worth a look at where it is.
const longRun = time.Second

// runningTask is a task of the pool with that ID; 0 on plain goroutines and workers of a group's own.
type runningTask struct {
	weir.Running
	pool uint64
}

// tasks describes tasks, and where those are that have run for long.
func (s *Snapshot) tasks(list []runningTask) (tasks []Task) {
	var long []weir.Running
	for _, r := range list {
		if s.Time.Sub(r.Since) >= longRun {
			long = append(long, r.Running)
		}
	}
	lines := weir.Lines(long)
	for _, r := range list {
		t := Task{Pool: r.pool, Worker: r.Worker, Label: clip(r.Label, maxText), Since: r.Since, Group: r.Group, Waits: r.Waits}
		if s.Time.Sub(r.Since) >= longRun {
			t.At, lines = clip(lines[0], maxText), lines[1:]
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// longest are the tasks that have run for longest, the shortest of them first: a heap.
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

func (l *longest) add(t runningTask) {
	if heap.Push(l, t); len(*l) > maxLongest {
		heap.Pop(l)
	}
}

// described returns what every answer has of a pool.
func described(pool weir.PoolInfo) Pool {
	times := pool.Times()
	stats := pool.Stats()
	return Pool{
		ID: pool.ID, Name: clip(pool.Name, maxText), Kind: clip(pool.Kind, maxText), Made: clip(pool.Made, maxText), Stats: Stats(stats),
		Wait: durations(times.Wait), Run: durations(times.Run), Oldest: times.Oldest.Seconds(),
	}
}

// onePool returns all of a pool.
func (h *handler) onePool(s *Snapshot, v view, pool weir.PoolInfo) Pool {
	p := described(pool)
	times := pool.Times()
	p.Wait.Buckets, p.Run.Buckets = buckets(times.Wait), buckets(times.Run)
	p.Throughput = h.rates.of(pool.ID)
	p.Lints = copyLints(pool.Lints(v.slow))
	var running []runningTask
	for _, r := range pool.Running(v.longer) {
		switch {
		case !v.matches(r.Label):
		case len(running) == maxTasks:
			p.RunningLeftOut++
		default:
			running = append(running, runningTask{r, pool.ID})
		}
	}
	p.Running = s.tasks(running)
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

// stack finds the tasks of a worker, mostly one, with their stacks.
func (h *handler) stack(s *Snapshot, v view, groups []weir.GroupInfo) error {
	var running []weir.Running
	if v.pool > 0 {
		pool, err := find(v.pool)
		if err != nil {
			return err
		}
		running = pool.Running(0)
		s.Pools = []Pool{described(pool)}
	} else {
		i := slices.IndexFunc(groups, func(g weir.GroupInfo) bool { return g.ID == v.group })
		if i < 0 {
			return fail(http.StatusNotFound, "there is no group %d; it may have ended", v.group)
		}
		running = groups[i].Running
		s.Groups = []Group{group(groups[i])}
	}
	running = slices.DeleteFunc(running, func(r weir.Running) bool { return r.Worker != v.worker })
	var tasks []Task
	for _, r := range running[:min(len(running), maxStacks)] {
		if stack := r.Stack(); stack != "" {
			t := s.tasks([]runningTask{{r, v.pool}})[0]
			t.Stack = clip(stack, maxStack)
			tasks = append(tasks, t)
		}
	}
	if tasks == nil {
		return fail(http.StatusNotFound, "worker %d runs no task; it may have ended", v.worker)
	}
	if v.pool > 0 {
		s.Pools[0].Running = tasks
	} else {
		s.Groups[0].Running = tasks
	}
	if of := (view{group: tasks[0].Group}); of.group > 0 && !v.json {
		kin := Snapshot{Time: s.Time}
		kin.groups(of, groups, of.kin(groups))
		s.around = kin.Groups
	}
	return nil
}

// none is the filter of groups that keeps all.
var none func(weir.GroupInfo) bool

// kin is the filter of groups that keeps the one that v asks for, and those that were made in its tasks, and in theirs.
func (v view) kin(list []weir.GroupInfo) func(weir.GroupInfo) bool {
	if v.group == 0 {
		return none
	}
	parent := make(map[uint64]uint64, len(list))
	for _, g := range list {
		parent[g.ID] = g.Parent
	}
	return func(g weir.GroupInfo) bool {
		id := g.ID
		for id != 0 && id != v.group {
			id = parent[id]
		}
		return id != 0
	}
}

func group(g weir.GroupInfo) Group {
	return Group{
		ID: g.ID, Pool: g.Pool, Name: clip(g.Name, maxText), Label: clip(g.Label, maxText), Made: clip(g.Made, maxText),
		Waits: clip(g.Waits, maxText), Since: g.Since,
		Parent: g.Parent, ParentPool: g.ParentPool, ParentWorker: g.ParentWorker, Tasks: g.Tasks,
	}
}

// groups adds the groups that keep is true for and those that v asks for, with those that they were made in; the oldest.
func (s *Snapshot) groups(v view, list []weir.GroupInfo, keep func(weir.GroupInfo) bool) {
	byID := make(map[uint64]int, len(list))
	for i, g := range list {
		byID[g.ID] = i
	}
	wanted := make([]bool, len(list))
	kept := 0
	for i, g := range list {
		if keep != nil && !keep(g) || !v.matches(g.Name, g.Label, g.Made, g.Waits) {
			continue
		}
		if kept >= maxGroups {
			s.GroupsLeftOut++
			continue
		}
		for exists := true; exists && !wanted[i]; i, exists = byID[list[i].Parent] {
			wanted[i] = true
			kept++
		}
	}
	var running []runningTask
	for i, g := range list {
		if !wanted[i] {
			continue
		}
		shown := group(g)
		n := min(len(g.Running), maxGroups-len(running))
		shown.LeftOut = len(g.Running) - n
		for _, r := range g.Running[:n] {
			running = append(running, runningTask{r, g.Pool})
		}
		shown.Running = make([]Task, n) // filled in below
		s.Groups = append(s.Groups, shown)
	}
	tasks := s.tasks(running)
	for _, g := range s.Groups {
		tasks = tasks[copy(g.Running, tasks):]
	}
}

// clip returns the first n bytes of text, and valid UTF-8.
func clip(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
