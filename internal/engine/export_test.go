package engine

import (
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// Run is a runner whose tasks cannot break off.
type Run func(w *Worker, task Task)

func (Run) Begin(*Worker)              {}
func (r Run) Run(w *Worker, task Task) { r(w, task) }
func (Run) Broken(*Worker, Task, any)  {}

// CacheLine is the distance that keeps hot words apart.
const CacheLine = cacheLine

// Outcome is that of a push or a pop.
type Outcome = outcome

// The outcomes.
const (
	Done   = moved
	None   = none
	Barred = barred
)

// SubmitWanted is Submit for a task that may start out of turn: see WaitForRoom.
func (e *Engine) SubmitWanted(task Task, done <-chan struct{}, want *Want, wakeup *Wakeup) Verdict {
	if e.OfferFor(task, want) {
		return Accepted
	}
	return e.WaitForRoom(task, done, want, wakeup)
}

// TasksTake sets how long tasks take as the engine knows it, which measures. From then on the first task makes a ring.
func (e *Engine) TasksTake(mean time.Duration) {
	e.makeMeter()
	e.queue.meter.mean.Store(int64(mean))
	e.handed = e.AtOnce
}

// Spreads reports whether a task would be handed over.
func (e *Engine) Spreads() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spreads()
}

// BeginsLate is what a task does that was handed over, and begins only now.
func (e *Engine) BeginsLate(waited time.Duration) {
	m := e.queue.meter
	now := m.now()
	m.arrives(draw{}.mark(now-int64(waited)), now)
}

// Ring is a ring for tests, which close its gates themselves.
type Ring struct {
	r    *ring
	stop atomic.Uint64
}

func NewRing(capacity int, from uint64) *Ring {
	r := &Ring{r: newRing(capacity, from, 0)}
	r.stop.Store(never)
	return r
}

// NewMeasuredRing makes a ring of which one task of each block is measured, at a random place. The first is in any case.
func NewMeasuredRing(capacity int, block uint32, random func(n int) int) *Ring {
	m := newMeter(time.Now(), 0.5, 1)
	m.random = random
	m.mean.Store(1)
	m.block.Store(block)
	r := NewRing(capacity, 0)
	r.r.measures(m)
	return r
}

// PopWeight is Pop for a measured ring: it returns how many tasks the popped one stands for.
func (r *Ring) PopWeight() (weight int, o Outcome) {
	_, _, k, o := r.r.pop(&r.stop, nil)
	if k != 0 {
		weight = int(k.weight())
	}
	return weight, o
}

// MeasuresFrom is how many tasks are pushed before one is measured again, since the ring was made; -1 if none ever is.
func (r *Ring) MeasuresFrom() int {
	at := r.r.drawn.at.Load()
	if at == never {
		return -1
	}
	return int(r.r.count(at))
}

func (r *Ring) Push(v int) Outcome     { return r.r.push(Task{N: v}, false) }
func (r *Ring) PushHeld(v int) Outcome { return r.r.push(Task{N: v}, true) }

func (r *Ring) Pop() (int, Outcome) {
	v, _, _, o := r.r.pop(&r.stop, nil)
	return v.N, o
}

func (r *Ring) PopHeld() (int, Outcome) {
	v, _, _, o := r.r.pop(nil, nil)
	return v.N, o
}

func (r *Ring) Gate(closed bool) {
	setGate(&r.r.head, closed)
	setGate(&r.r.tail, closed)
}

func (r *Ring) StopAtTail() { r.stop.Store(r.r.tailAt()) }
func (r *Ring) Len() int    { return int(r.r.count(r.r.tailAt()) - r.r.count(r.r.headAt())) }

// Queue is a queue for tests.
type Queue struct{ q queue }

func NewQueue(capacity int) *Queue {
	q := new(Queue)
	q.q.capacity = capacity
	return q
}

func (q *Queue) Push(v int) Outcome { return q.q.push(Task{N: v}) }

// PushFast is the push of a submitter that holds no lock.
func (q *Queue) PushFast(v int) Outcome {
	if r := q.q.tail.Load(); r != nil {
		return r.push(Task{N: v}, false)
	}
	return Barred
}

func (q *Queue) Pop() (int, bool) {
	v, _, ok := q.q.pop()
	return v.N, ok
}
func (q *Queue) Len() int                  { return q.q.len() }
func (q *Queue) Ready() bool               { return q.q.ready() }
func (q *Queue) Release()                  { q.q.freeMemory() }
func (q *Queue) Span() (begin, end uint64) { return q.q.headPosition(), q.q.tailPosition() }
func (q *Queue) Accepted() uint64          { return q.q.accepted() }

// Compact removes what is void.
func (q *Queue) Compact(void func(int) bool, at ...*uint64) (removed int, ok bool) {
	q.q.setGates(true, true)
	defer q.q.setGates(false, false)
	gone, ok := q.q.compact(func(v Task) bool { return void(v.N) }, at)
	return len(gone), ok
}

// Slots is how many slots the rings of the queue have together.
func (q *Queue) Slots() (n int) {
	for r := q.q.head.Load(); r != nil; r = r.next {
		n += len(r.slots)
	}
	return n
}

// Permits are permits for tests.
type Permits struct{ p permits }

func (p *Permits) Allow(n int)          { p.p.allow(n) }
func (p *Permits) TryEnter() bool       { return p.p.tryAcquire() }
func (p *Permits) TryWake() bool        { return p.p.tryWake() }
func (p *Permits) EndSearch()           { p.p.endSearch() }
func (p *Permits) Leave(searching bool) { p.p.release(searching) }
func (p *Permits) Active() int          { return p.p.active() }
func (p *Permits) Over() bool           { return p.p.over() }
func (p *Permits) Searching() bool      { return p.p.searching() }

// Layout reports how far apart the hot words are.
func Layout() (ringTailFromFields, ringHeadFromTail, ringEndFromHead, permitsFromFields, mutexFromPermits, idleEngine uintptr) {
	var r ring
	var e Engine
	return unsafe.Offsetof(r.tail) - unsafe.Offsetof(r.next),
		unsafe.Offsetof(r.head) - unsafe.Offsetof(r.tail),
		unsafe.Sizeof(r) - unsafe.Offsetof(r.head),
		unsafe.Offsetof(e.permits) - unsafe.Offsetof(e.waitAt),
		unsafe.Offsetof(e.mu) - unsafe.Offsetof(e.permits),
		unsafe.Sizeof(e)
}

// Yield is what a submitter does that finds the queue full.
func (e *Engine) Yield() bool { return e.yield() }

// HurriedUntil tells until when no submitter yields, Clock what time it is; after Unhurry
// they may.
func (e *Engine) HurriedUntil() time.Duration { return time.Duration(e.hurried.Load()) }
func (e *Engine) Unhurry()                    { e.hurried.Store(0) }
func (e *Engine) Clock() time.Duration        { return time.Since(e.clock) }

// Waking is how many tasks count as going on though their goroutines have not said so.
func (e *Engine) Waking() int { return int(e.waking.Load()) }

// Granted returns the tokens that have been granted and not used yet.
func (e *Engine) Granted() int64 {
	if e.rated == nil {
		return 0
	}
	return e.rated.granted.Load()
}

// Waits is how many calls of Wait wait, or have given up.
func (e *Engine) Waits() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.waits)
}

// WorkerSize is the size of a worker.
func WorkerSize() uintptr { return unsafe.Sizeof(Worker{}) }

// Meter is a meter for tests, which measures at a cost of 100 ns, for a hundredth of two processors.
type Meter struct{ m *meter }

func NewMeter() *Meter {
	m := newMeter(time.Now(), 0.01, 2)
	m.cost = 100
	return &Meter{m}
}

// Ends measures a task that took so long and stands for a block, and returns how many the next one stands for.
func (m *Meter) Ends(took time.Duration) int {
	block := m.m.block.Load()
	m.m.ends(draw{length: block}.mark(0), m.m.now()-int64(took), 0)
	return 1 << m.m.block.Load()
}

// Bids are those of an engine without one.
type Bids struct{ bids }

// Bid is one of them.
type Bid = bid

func NewBids() *Bids {
	b := new(Bids)
	b.init()
	return b
}

func (b *Bids) Add(priority, share int32, aging time.Duration) *Bid {
	x := new(bid)
	b.add(x, priority, share, aging)
	return x
}

func (b *Bids) Enter(x *Bid, now, oldest time.Duration) { b.enter(x, now, oldest, false) }
func (b *Bids) Leave(x *Bid, now time.Duration)         { b.leave(x, now, false) }
func (b *Bids) Charge(x *Bid, since, now time.Duration) { b.charge(x, since, now) }
func (b *Bids) Best(now time.Duration) *Bid             { return b.best(now, false, false, lowest) }
func (b *Bids) Begins(x *Bid)                           { b.begins(x) }
func (x *bid) Used() float64                            { return x.used }

// Naive is Best by a look at all of them.
func (b *Bids) Naive(all []*Bid, now time.Duration) *Bid {
	var best [2]*Bid
	for _, x := range all {
		level, aged := b.levelAt(x, now)
		if x.level != level || x.aged != aged {
			return nil
		}
		if i := index(aged); best[i] == nil || precedes(x, best[i]) {
			best[i] = x
		}
	}
	return b.choose(best[0], best[1], nil, lowest)
}

// levelAt returns the level of x, by the clock alone.
func (b *Bids) levelAt(x *Bid, now time.Duration) (level int32, aged bool) {
	top := b.top()
	if x.aging == 0 || x.class.priority >= top {
		return x.class.priority, false
	}
	steps := int64(max(0, now-x.since) / x.aging)
	if steps >= int64(top)-int64(x.class.priority) {
		return top, true
	}
	level = x.class.priority + int32(steps)
	if at, found := slices.BinarySearch(b.levels, level); !found && at > 0 {
		level = b.levels[at-1] + 1
	}
	return level, false
}

// Contention is that of a worker.
type Contention struct{ c contention }

// Patience is for how many pauses the worker is to let others go first.
func (c *Contention) Patience(now time.Duration, queued uint64) uint64 {
	return c.c.patience(now, queued)
}

// Lost says that the worker has taken a task from begun to taken, and lost against others meanwhile.
func (c *Contention) Lost(begun, taken time.Duration) {
	c.c.some, c.c.taken, c.c.took = true, taken, taken-begun
}

// Counts reports whether the worker has to look before it takes a task.
func (c *Contention) Counts() bool { return c.c.some }
