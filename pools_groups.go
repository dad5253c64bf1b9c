package weir

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
)

// GroupInfo is a group, from its first task to its Wait: see [Groups].
type GroupInfo struct {
	ID    uint64 // unique among the groups of the program; after Wait the group has a new one
	Pool  uint64 // the ID of its pool; 0 for a group with workers of its own
	Name  string // the name of its pool, or of the group if it has workers of its own
	Label string // see [Label]

	Made string // the file and line that made the group; "" if that was before the first call of [Watch]
	// Waits is the file and line that wait for its end. It is "" if no goroutine waits, if the wait began before the
	// first call of Watch, and for a goroutine that was started as go group.Wait().
	Waits string
	Since time.Time // the group existed at this time; it may be older

	// If the group was made in a task: the group and the pool of the task, and its Running.Worker; 0 for none.
	Parent, ParentPool uint64
	ParentWorker       int

	Tasks   int       // tasks of the group that have not ended
	Running []Running // those of Tasks that run
}

// Watch makes the library note, from now on, what [Groups] and [Running.Stack] need: where each group was
// made, where a goroutine waits for it, and which goroutine runs a task. That takes some 1 µs a group, and
// some 0.2 µs for each of the first tasks of a group with workers of its own. Groups and the handler of
// package weirdebug call Watch.
func Watch() { watched.Store(true) }

// watched says that Watch was called.
var watched atomic.Bool

// Groups lists the groups of the program that have existed for at least longer, the oldest first: those with
// tasks that run, and those for whose end a goroutine waits. With their parents they form the tree of what
// waits for what. Of groups that began before the first call of [Watch] or Groups it finds only those with
// tasks that run on a Pool, whose Parent may be one of the others. It finds no groups of package errgroup, and
// loops and streams of package par only on a pool.
//
// Groups go on meanwhile. If the task that made a group has ended, ParentWorker is 0, or that of the parent
// group's next task on the same worker.
func Groups(longer time.Duration) []GroupInfo {
	must(longer >= 0, "time of groups must be at least 0", longer)
	Watch()
	c := collection{longer: longer, groups: make(map[*batch]*GroupInfo), ids: make(map[*core]uint64)}
	// Direct tasks first: one that becomes a worker's meanwhile is found there as well, or instead.
	direct := make(map[*batch][]Running)
	for i := range recorded {
		for _, b := range recorded[i].batches() {
			direct[b] = recorded[i].directTasks(b)
		}
	}
	var all []observed
	for _, l := range pools.all() {
		if info, ok := l.info(); ok {
			c.ids[info.pool.base()] = info.ID
			all = append(all, info.pool)
		}
	}
	for b, tasks := range direct {
		c.group(b).Running = tasks
	}
	for _, pool := range all {
		c.add(pool.longer(0))
	}
	return c.list()
}

// collection is what one call of Groups has found.
type collection struct {
	longer time.Duration
	groups map[*batch]*GroupInfo
	ids    map[*core]uint64 // of pools, those of groups included
}

// add adds tasks that run.
func (c *collection) add(tasks []Running) {
	for _, r := range tasks {
		if r.of == nil {
			continue
		}
		g := c.group(r.of)
		g.Tasks -= r.worker.Unreported(r.of)
		if d := r.of.recorded().adopted(r.worker); d != nil {
			r.Worker, r.Since, r.workers, r.named = d.number, d.since, d.label, 0
			g.Running = slices.DeleteFunc(g.Running, func(r Running) bool { return r.task == any(d) })
		}
		g.Running = append(g.Running, r)
	}
}

// id returns the ID of what stands for the pool in Pools.
func (c *collection) id(p *Pool) uint64 { return c.ids[p.core.shown().base()] }

// group returns what is collected of b.
func (c *collection) group(b *batch) *GroupInfo {
	g := c.groups[b]
	if g == nil {
		g = c.describe(b)
		c.groups[b] = g
	}
	return g
}

// describe is not seen by the race detector: the caller knows nothing of the goroutine that has made the group.
//
//go:norace
func (c *collection) describe(b *batch) *GroupInfo {
	r := b.recorded()
	g := &GroupInfo{
		ID: r.id, Name: b.group.pool.core.reporter.name(), Label: b.label.of(),
		Made: place(r.made...), Waits: place(r.shard().waits(r)...), Since: r.since,
		Tasks: b.tally.Open(),
	}
	if b.group.direct == nil {
		g.Pool = c.id(b.group.pool)
	}
	if b.group.host != nil {
		c.describeParent(g, b.group.host)
	}
	return g
}

// describeParent notes the task in which g was made. It is hidden like describe.
//
//go:norace
func (c *collection) describeParent(g *GroupInfo, h host) {
	m, ok := h.(*member)
	switch {
	case !ok:
		if t := h.task(); t.pool != nil {
			g.ParentPool, g.ParentWorker = c.id(t.pool), t.pool.core.numberOf(t.worker)
		}
	default:
		r := m.batch.recorded()
		g.Parent, g.ParentWorker = r.id, r.shard().number(m)
		if w := m.worker.Load(); g.ParentWorker == 0 && w != nil && w.Tenant.Load() == &m.tenant {
			g.ParentWorker = m.batch.group.pool.core.numberOf(w)
		}
		if m.batch.group.direct == nil {
			g.ParentPool = c.id(m.batch.group.pool)
		}
	}
}

func (c *collection) list() []GroupInfo {
	var list []GroupInfo
	long := func(since time.Time) bool { return time.Since(since) >= c.longer }
	for _, g := range c.groups {
		g.Tasks = max(g.Tasks, len(g.Running)) // workers may have gone on since the look at the group
		if long(g.Since) || slices.ContainsFunc(g.Running, func(r Running) bool { return long(r.Since) }) {
			list = append(list, *g)
		}
	}
	slices.SortFunc(list, func(a, b GroupInfo) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return list
}

// groupRecord is what Groups knows of a batch.
type groupRecord struct {
	batch *batch
	id    uint64
	since time.Time
	made  []uintptr // the callers that made the group

	// Under the lock of the shard, in whose list the record is while there are such tasks or a wait.
	link    fifo.Link[groupRecord]
	direct  fifo.List[directRecord]
	waiting []uintptr // the callers that wait
}

// directRecord is a task of a group without an engine: see the type direct.
type directRecord struct {
	member *member
	number int
	since  time.Time
	label  *numberedWorkers // of the goroutine, as its worker 0
	link   fifo.Link[directRecord]
}

// recordShard holds a part of the records of batches.
type recordShard struct {
	mu   sync.Mutex
	list fifo.List[groupRecord]
	_    [64 - 16]byte
}

var (
	recorded  [16]recordShard
	lastGroup atomic.Uint64 // ID
)

func (r *groupRecord) shard() *recordShard { return &recorded[r.id%uint64(len(recorded))] }

// noteBegin notes that b begins, if Watch was called.
func (b *batch) noteBegin() {
	if watched.Load() {
		b.record.Store(newRecord(b, b.group.made))
	}
}

//go:noinline
func newRecord(b *batch, made []uintptr) *groupRecord {
	return &groupRecord{batch: b, id: lastGroup.Add(1), since: time.Now(), made: made}
}

// recorded returns the record of b, and makes it if need be.
func (b *batch) recorded() *groupRecord {
	if r := b.record.Load(); r != nil {
		return r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.record.Load()
	if r == nil {
		r = newRecord(b, nil)
		b.record.Store(r)
	}
	return r
}

// noteWait notes that those callers wait for the end of b, until the function that it returns is called.
func (b *batch) noteWait(callers []uintptr) (done func()) {
	if callers == nil {
		return func() {}
	}
	r := b.recorded()
	apart(func() { r.shard().wait(r, callers) })
	return func() { apart(func() { r.shard().wait(r, nil) }) }
}

func (s *recordShard) wait(r *groupRecord, callers []uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.waiting = callers
	s.relist(r)
}

// relist keeps r in the list as long as it must be there. The caller holds mu.
func (s *recordShard) relist(r *groupRecord) {
	switch needed := r.waiting != nil || r.direct.First() != nil; {
	case !needed:
		s.list.Remove(&r.link)
	case r.link.Of() == nil:
		s.list.Append(&r.link, r)
	}
}

// waits returns the callers that wait.
func (s *recordShard) waits(r *groupRecord) []uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.waiting
}

// batches returns those in the list.
func (s *recordShard) batches() (list []*batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := s.list.First(); l != nil; l = l.Next() {
		list = append(list, l.Of().batch)
	}
	return list
}

// directTasks lists those of b. One that has become a worker's is among the tasks of its pool.
func (s *recordShard) directTasks(b *batch) (list []Running) {
	r := b.recorded()
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := r.direct.First(); l != nil; l = l.Next() {
		d := l.Of()
		if d.member.worker.Load() != nil {
			continue
		}
		list = append(list, Running{
			Label: b.label.of(), Worker: d.number, Since: d.since, Group: r.id, Waits: d.waits(), task: d, of: b,
			workers: d.label, still: func() bool { return s.has(r, d) },
		})
	}
	return list
}

// waits says what the task waits for, as long as it is a direct one: all but the end of a group at its bell makes it a worker's.
func (d *directRecord) waits() string {
	if d.member.bells.Load() > 0 {
		return waitsFor[engine.ForOther]
	}
	return waitsFor[engine.ForNothing]
}

// adopted returns the record of the task on w, if it began as a direct one.
func (r *groupRecord) adopted(w *engine.Worker) *directRecord {
	s := r.shard()
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := r.direct.First(); l != nil; l = l.Next() {
		if d := l.Of(); d.member.worker.Load() == w {
			return d
		}
	}
	return nil
}

func (s *recordShard) has(r *groupRecord, d *directRecord) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return d.link.Of() != nil
}

// number returns the Running.Worker of the task that has m, if it has begun as a direct one; else 0. It is hidden from the race detector like
// describe.
//
//go:norace
func (s *recordShard) number(m *member) int {
	r := m.batch.recorded()
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := r.direct.First(); l != nil; l = l.Next() {
		if d := l.Of(); d.member == m || d.member.acting == m {
			return d.number
		}
	}
	return 0
}

// noteDirect notes that the task of m, of that number, runs on the calling goroutine, and gives the goroutine a label by which
// Running.Stack finds it. The caller calls the function that it returns when the task is over.
func (m *member) noteDirect(number int) (labels *profileLabels, done func()) {
	d := &directRecord{member: m, number: number%math.MaxUint16 + 1, since: time.Now(), label: groupWorkers(1)}
	r := m.batch.recorded()
	apart(func() { r.shard().add(r, d) })
	labels = d.label.labels(0)
	labels.give()
	return labels, func() { apart(func() { r.shard().remove(r, d) }) }
}

func (s *recordShard) add(r *groupRecord, d *directRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.direct.Append(&d.link, d)
	s.relist(r)
}

func (s *recordShard) remove(r *groupRecord, d *directRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.direct.Remove(&d.link)
	s.relist(r)
}

// batchOf returns the batch of the task on w; nil if it is of none. It is hidden from the race detector like describe.
//
//go:norace
func batchOf(w *engine.Worker) *batch {
	if t := w.Tenant.Load(); t != nil {
		return batchIn(t.Self)
	}
	return nil
}

// batchIn returns the batch of a tenant; nil if it is of none.
//
//go:norace
func batchIn(tenant any) *batch {
	if m, ok := tenant.(*member); ok {
		return m.batch
	}
	return nil
}

// leaveGroup follows the last task of a group on w, before a task of none.
func leaveGroup(w *engine.Worker) {
	if t := w.Tenant.Swap(nil); t != nil {
		t.Self.(*member).vacate()
	}
}
