package engine

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/histogram"
)

// meter measures how long tasks wait and run: one task of each block of tasks, which stands for all of it. Blocks are so long that
// measuring takes no more than a share of the workers' time, and, where the tasks of many workers sleep, of the
// processors' time. Which task of a block it is, is random: anything else would see a periodic load at the same phase each time.
//
// A measured task carries a mark with the time of its submission, in the stamp of its slot of a ring or with its worker: so the
// others are as fast as without a meter, except that a submitter looks at one more word.
//
// Each ring draws from its own blocks, as do the tasks that pass by the rings, under Engine.mu.
type meter struct {
	clock  time.Time
	share  float64
	cost   float64         // of measuring a task, in ns: of reading the clock when it is submitted, when it begins and when it ends
	procs  float64         // processors
	random func(n int) int // from 0 to n-1
	_      [64 - 56]byte   // all goroutines that measure read those, workers write these
	mean   atomic.Int64    // of the latest run times, in ns; 0 if there is none
	rate   atomic.Uint64   // of tasks a second lately
	tasks  atomic.Uint64   // that have ended since then: those measured, and those that they stand for
	ended  atomic.Uint32   // those measured
	block  atomic.Uint32   // the binary logarithm of the next block's length
	from   atomic.Int64    // when that was
	_      [64 - 40]byte
	wait   histogram.Counter
	run    histogram.Counter
	expiry *expiry // nil for none; then each task is measured

	passing draw  // of the tasks that pass by the rings; under Engine.mu
	left    int   // so many of them come before the next that is measured
	since   int64 // when that was drawn
}

// A draw is the place of a block that is measured: so many tasks of it come after that. length is the binary logarithm of how many
// the block has.
type draw struct {
	after  int
	length uint32
}

// A mark of a task that is measured; never 0.
//
//	marked | the logarithm of the block's length | the time of the submission, in ns of the meter's clock
//
// That time is 0 if it is not known.
type mark uint64

const (
	marked       = 1 << 63
	markTime     = 59 // bits: a task may wait for 9 years
	longestBlock = 15 // its logarithm, which has the 4 bits between
	firstTasks   = 32 // so many are all measured, until a run time is known,
	firstBlock   = 6  // and those that follow in blocks of that length

	// Measuring a task of less than that many ns costs more than it takes: the caches and the branch predictor do not have what it
	// uses, and submitters and workers that go at the same pace fall out of step.
	disturbed = 1000

	countedTasks = 32 // measured ones tell the rate; so few that a flood is noticed soon, and more than a burst often has

	staleBlock = time.Second // then a new block begins where workers come to rest: tasks may be others now, and few
)

func newMeter(clock time.Time, share float64, procs int) *meter {
	m := &meter{clock: clock, share: share, random: rand.N[int], cost: float64(3*histogram.ClockCost() + 30*time.Nanosecond), procs: float64(max(1, procs))}
	m.from.Store(m.now())
	return m
}

// now is the time of the meter's clock, and not 0.
func (m *meter) now() int64 { return max(1, int64(time.Since(m.clock))) }

// drawn draws from a new block of that length, and returns how many tasks come before the one that is measured.
func (m *meter) drawn(block uint32) (d draw, before int) {
	n := 1 << block
	before = m.random(n)
	return draw{after: n - 1 - before, length: block}, before
}

// draws reports whether not every task is to be measured, of which so many were submitted before.
func (m *meter) draws(before uint64) bool {
	if m.knows() {
		return m.block.Load() > 0
	}
	return before >= firstTasks
}

// knows reports whether it is known how long blocks must be.
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

// weight is how many tasks the marked one stands for.
func (k mark) weight() uint64 { return 1 << (k >> markTime & longestBlock) }

// submitted is the time of the task's submission; 0 if that is not known. A mark has the last bits of it: of the times that have them, it is the one nearest to now.
func (k mark) submitted(now int64) int64 {
	at := int64(k & (1<<markTime - 1))
	if at == 0 {
		return 0
	}
	return now - (now-at)<<(64-markTime)>>(64-markTime)
}

// passes returns the mark of a task that passes by the rings and was submitted at this moment; 0 if the task is not measured.
// The caller holds Engine.mu.
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

// refresh measures the next task that passes by the rings, if the present block is old.
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

// ends notes that a task with the mark k, which has begun at that time, has ended. It did nothing for a part of the time.
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

// count counts a task that is measured, and those that it stands for, and from time to time how many those are in a second.
func (m *meter) count(now int64, weight uint64) {
	tasks, ended, from := m.tasks.Add(weight), m.ended.Add(1), m.from.Load()
	if ended < countedTasks && now-from < int64(staleBlock) || !m.from.CompareAndSwap(from, now) {
		return
	}
	m.tasks.Store(0)
	m.ended.Store(0)
	m.rate.Store(uint64(float64(tasks) / time.Duration(max(1, now-from)).Seconds()))
}

// blockFor is the logarithm of how long a block must be for tasks of that run time, in ns.
func (m *meter) blockFor(mean float64) uint32 {
	if m.share >= 1 {
		return 0
	}
	n := m.cost / (m.share * mean) * (1 + disturbed/mean)
	n = max(n, float64(m.rate.Load())*m.cost*1e-9/(m.share*m.procs))
	n = min(n, 1<<longestBlock)
	return uint32(bits.Len(uint(math.Ceil(max(1, n))) - 1))
}

// makeMeter makes the meter with the first task. The caller holds mu.
func (e *Engine) makeMeter() {
	if e.Measure > 0 && e.queue.meter == nil {
		e.queue.meter = newMeter(e.clock, float64(e.Measure), int(e.AtOnce))
		if e.Expiry != nil {
			e.queue.meter.expiry = newExpiry(e)
		}
	}
}

// passes returns the mark of a task that passes by the rings. The caller holds mu.
func (e *Engine) passes() (k mark) {
	e.makeMeter()
	if m := e.queue.meter; m != nil {
		if len(e.workers) <= 1 { // that of this task: a clock is read for an engine that was at rest, not for each task
			m.refresh()
		}
		k = m.passes()
	}
	return k
}

// subtaskMark is passes for a subtask, of which is not known when it was submitted.
func (e *Engine) subtaskMark() mark {
	return e.passes() &^ (1<<markTime - 1)
}

// runMarked runs a task that is measured.
func (e *Engine) runMarked(w *Worker, task Task) {
	if w.carries != nil {
		e.carry(w)
		return
	}
	switch m := e.queue.meter; {
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

// measured notes that the task of w, which is measured, has ended.
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

// refreshMeter measures the next task that is queued, if the meter has to learn of other tasks than those that it knows.
func (e *Engine) refreshMeter(now time.Duration) {
	if r := e.queue.tail.Load(); r != nil && r.meter != nil {
		r.refresh(int64(now))
	}
}

// Times are how long tasks have waited and run since the engine was made.
type Times struct {
	Wait, Run *histogram.Counter // nil if none was measured
	Oldest    time.Duration      // how long the oldest queued task has waited at least
}

// Times returns what was measured.
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
