package engine

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/clock"
	"github.com/64ed045f/weir/internal/histogram"
)

// meter measures how long tasks wait and run. It measures one task of each block of tasks; that task stands
// for the whole block. Blocks are so long that measuring takes no more than a share of the workers' time.
// Where the tasks of many workers sleep, it takes no more than that share of the processors' time. The
// measured task of a block is random: anything else would see a periodic load at the same phase each time.
//
// A measured task carries a mark with the time of its submission, in the stamp of its slot of a ring, or with
// its worker. So the other tasks are as fast as without a meter, except that a submitter looks at one more
// word.
//
// Each ring draws from its own blocks. So do the tasks that pass by the rings, under Engine.mu.
type meter struct {
	clock  time.Time
	share  float64
	cost   float64         // cost of measuring a task, in ns: of reading the clock when the task is submitted, begins and ends
	procs  float64         // the number of processors
	random func(n int) int // returns a number from 0 to n-1
	_      [64 - 56]byte   // all goroutines that measure read the fields above; workers write those below
	mean   atomic.Int64    // mean of the latest run times, in ns; 0 if there is none
	rate   atomic.Uint64   // tasks a second, at the last time that the rate was determined
	tasks  atomic.Uint64   // tasks that have ended since from: the measured ones, and those that they stand for
	ended  atomic.Uint32   // measured tasks that have ended since from
	block  atomic.Uint32   // the binary logarithm of the next block's length
	from   atomic.Int64    // when the rate was last determined
	// crowded is the time until which no task is handed over to spread the work: see spreads.
	crowded atomic.Int64
	_       [64 - 48]byte
	wait    histogram.Counter
	run     histogram.Counter
	expiry  *expiry // if not nil, each task is measured

	passing draw  // of the tasks that pass by the rings; under Engine.mu
	left    int   // how many of them come before the next measured one
	since   int64 // when passing was drawn
}

// A draw is the position of the measured task in its block: after is how many tasks of the block come after
// it. length is the binary logarithm of the block's length.
type draw struct {
	after  int
	length uint32
}

// A mark is that of a measured task; it is never 0.
//
//	marked | the logarithm of the block's length | the time of the submission, in ns of the meter's clock
//
// That time is 0 if it is not known.
type mark uint64

const (
	marked       = 1 << 63
	markTime     = 59 // bits: a task may wait for 9 years
	longestBlock = 15 // the logarithm of the greatest length; it has the 4 bits between
	firstTasks   = 32 // until a run time is known, this many tasks are all measured,
	firstBlock   = 6  // and later ones in blocks whose length has this logarithm

	// Measuring a task that takes less than disturbed ns costs more than the measuring itself takes. The
	// caches and the branch predictor do not have what it uses, and submitters and workers that go at the
	// same pace fall out of step.
	disturbed = 1000

	countedTasks = 32 // this many measured tasks tell the rate: so few that a flood is noticed soon, but more than most bursts have

	staleBlock = time.Second // after this time a new block begins where workers come to rest: the tasks may be others now, and few
)

func newMeter(zero time.Time, share float64, procs int) *meter {
	m := &meter{clock: zero, share: share, random: rand.N[int], cost: float64(3*clock.Cost() + 30*time.Nanosecond), procs: float64(max(1, procs))}
	m.from.Store(m.now())
	return m
}

// now returns the time of the meter's clock; it is never 0.
func (m *meter) now() int64 { return max(1, int64(time.Since(m.clock))) }

// drawn draws from a new block. block is the logarithm of its length. before is how many of its tasks come
// before the measured one.
func (m *meter) drawn(block uint32) (d draw, before int) {
	n := 1 << block
	before = m.random(n)
	return draw{after: n - 1 - before, length: block}, before
}

// draws reports whether only one task of each block is measured from now on; otherwise every task is. before
// is how many tasks were submitted before.
func (m *meter) draws(before uint64) bool {
	if m.knows() {
		return m.block.Load() > 0
	}
	return before >= firstTasks
}

// knows reports whether the meter knows how long blocks must be.
func (m *meter) knows() bool { return m.mean.Load() > 0 || m.share >= 1 }

// next draws from the next block.
func (m *meter) next() (d draw, before int) {
	if !m.knows() {
		return m.drawn(firstBlock)
	}
	return m.drawn(m.block.Load())
}

func (d draw) mark(submitted int64) mark {
	return mark(marked | uint64(d.length)<<markTime | uint64(submitted)&(1<<markTime-1))
}

// weight returns how many tasks the measured one stands for.
func (k mark) weight() uint64 { return 1 << (k >> markTime & longestBlock) }

// submitted returns the time of the task's submission; 0 if that is not known. A mark has only the last bits
// of the time. Of all times with these bits, submitted returns the one nearest to now.
func (k mark) submitted(now int64) int64 {
	at := int64(k & (1<<markTime - 1))
	if at == 0 {
		return 0
	}
	return now - (now-at)<<(64-markTime)>>(64-markTime)
}

// passes returns the mark of a task that passes by the rings and is submitted now; 0 if the task is not
// measured. The caller holds Engine.mu.
func (m *meter) passes() (k mark) {
	if !m.knows() {
		return draw{}.mark(m.now())
	}
	if m.left > 0 {
		m.left--
		return 0
	}
	m.since = m.now()
	k = m.passing.mark(m.since)
	after := m.passing.after
	m.passing, m.left = m.next()
	m.left += after
	return k
}

// refresh makes the next task that passes by the rings a measured one, if the present block is old.
func (m *meter) refresh() {
	if m.left > 0 && m.now()-m.since > int64(staleBlock) {
		m.passing, m.left = draw{}, 0
	}
}

// begins notes that a task with the mark k begins, and returns the time.
func (m *meter) begins(k mark) (now int64) {
	now = m.now()
	if at := k.submitted(now); at != 0 {
		m.wait.Add(time.Duration(now-at), k.weight())
	}
	return now
}

// A task that was handed over when it was fresh, and begins more than lateStart after its submission, has
// waited for a processor. After such a wait of d no task is handed over to spread the work for crowdedFor × d.
const (
	lateStart  = time.Millisecond
	crowdedFor = 100
)

// isFresh reports whether a task with the mark k has just been submitted. m may be nil.
func (m *meter) isFresh(k mark) bool {
	if m == nil || k == 0 {
		return false
	}
	now := m.now()
	at := k.submitted(now)
	return at != 0 && now-at < int64(lateStart)
}

// arrives notes that a task with the mark k, which was handed over when it was fresh, begins now.
func (m *meter) arrives(k mark, now int64) {
	waited := now - k.submitted(now)
	if waited <= int64(lateStart) {
		return
	}
	until := now + crowdedFor*waited
	for at := m.crowded.Load(); at < until && !m.crowded.CompareAndSwap(at, until); {
		at = m.crowded.Load()
	}
}

// ends notes that a task with the mark k, which began at the time begun, has ended. It waited for the part
// away of that time.
func (m *meter) ends(k mark, begun int64, away time.Duration) {
	now := m.now()
	took := max(1, time.Duration(now-begun)-away)
	m.run.Add(took, k.weight())
	m.count(now, k.weight())
	mean := m.mean.Load()
	if mean == 0 {
		mean = int64(took)
	} else {
		mean += (int64(took) - mean) / 8
	}
	mean = max(1, mean)
	m.mean.Store(mean)
	if block := m.blockFor(float64(mean)); block != m.block.Load() {
		m.block.Store(block)
	}
}

// count counts a measured task, and those that it stands for. From time to time it determines the rate.
func (m *meter) count(now int64, weight uint64) {
	tasks, ended, from := m.tasks.Add(weight), m.ended.Add(1), m.from.Load()
	if ended < countedTasks && now-from < int64(staleBlock) || !m.from.CompareAndSwap(from, now) {
		return
	}
	m.tasks.Store(0)
	m.ended.Store(0)
	m.rate.Store(uint64(float64(tasks) / time.Duration(max(1, now-from)).Seconds()))
}

// blockFor returns the logarithm of the length that a block must have for tasks with a mean run time of mean
// ns.
func (m *meter) blockFor(mean float64) uint32 {
	if m.share >= 1 {
		return 0
	}
	n := m.cost / (m.share * mean) * (1 + disturbed/mean)
	n = max(n, float64(m.rate.Load())*m.cost*1e-9/(m.share*m.procs))
	n = min(n, 1<<longestBlock)
	return uint32(bits.Len(uint(math.Ceil(max(1, n))) - 1))
}

// makeMeter makes the meter when the first task comes. The caller holds mu.
func (e *Engine) makeMeter() {
	if e.Measure > 0 && e.queue.meter == nil {
		e.queue.meter = newMeter(e.clock, float64(e.Measure), int(e.AtOnce))
		if e.Expiry != nil {
			e.queue.meter.expiry = newExpiry(e)
		}
	}
}

// passes returns the mark of a task that passes by the rings; 0 if the task is not measured. The caller holds
// mu.
func (e *Engine) passes() (k mark) {
	e.makeMeter()
	if m := e.queue.meter; m != nil {
		if len(e.workers) <= 1 { // the worker of this task: an engine that was at rest reads a clock here, other engines do not for each task
			m.refresh()
		}
		k = m.passes()
	}
	return k
}

// subtaskMark is passes for a subtask, whose time of submission is not known.
func (e *Engine) subtaskMark() mark {
	return e.passes() &^ (1<<markTime - 1)
}

// runMarked runs a task that has a mark: a measured task, or the worker that w carries.
func (e *Engine) runMarked(w *Worker, task Task) {
	if w.carries != nil {
		e.carry(w)
		return
	}
	m := e.queue.meter
	if w.fresh {
		w.fresh = false
		m.arrives(w.mark, m.now())
	}
	switch {
	case e.Void != nil && e.Void(task):
		w.mark = 0
	case m.expiry != nil && m.expiry.isOver(w.mark, m.now()):
		e.expired(w, task)
		return
	default:
		w.begun.Store(m.begins(w.mark))
	}
	e.Run(w, task)
	if w.mark != 0 {
		e.measured(w)
	}
}

// measured notes that the task of w, which was measured, has ended.
func (e *Engine) measured(w *Worker) {
	k, begun := w.mark, w.begun.Load()
	w.mark = 0
	w.begun.Store(0)
	var away time.Duration
	if w.detour.Load() { // else it has not waited
		e.mu.Lock()
		if p := w.place; p != nil {
			away, p.away, p.since = p.away, 0, 0
		}
		e.mu.Unlock()
	}
	e.queue.meter.ends(k, begun, away)
	e.refreshMeter(time.Duration(begun))
}

// refreshMeter makes the next queued task a measured one, if the meter's block is too old or too long for the
// tasks of now.
func (e *Engine) refreshMeter(now time.Duration) {
	if r := e.queue.tail.Load(); r != nil && r.meter != nil {
		r.refresh(int64(now))
	}
}

// Times says how long tasks have waited and run since the engine was made.
type Times struct {
	Wait, Run *histogram.Counter // nil if none was measured
	Oldest    time.Duration      // the least time that the oldest queued task has waited
}

// Times returns what the engine has measured.
func (e *Engine) Times() (t Times) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.queue.meter
	if m == nil {
		return t
	}
	now := m.now()
	t.Wait, t.Run = &m.wait, &m.run
	for r := e.queue.head.Load(); r != nil; r = r.next {
		if at, ok := r.oldest(now); ok {
			t.Oldest = time.Duration(max(1, now-at))
			break
		}
	}
	return t
}
