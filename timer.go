package weir

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/race"
)

// Timer is a task that a pool runs later: see [Pool.After], [Pool.At] and [Pool.Every]. All methods may be
// called by any number of goroutines at once, also by the task itself.
type Timer struct {
	tag     race.Tag  // of the call that has made it
	past    race.Past // of the runs, and of the calls of Reset
	of      *timers
	task    func(ctx context.Context)
	repeats bool

	// All that follows is under the mutex of the timers.
	number  uint64        // of its entry in a heap
	due     int64         // when it is due, if it is pending: as in its heap
	every   time.Duration // from one time to the next, of one that repeats
	run     *timerRun     // that was handed over last
	missed  uint64
	wall    bool // due is a time of day
	pending bool
}

// After hands task to the pool when d is over, as [Pool.Go] does; at once if d is not positive. It is another
// goroutine that does: a Close that follows After at once may come first. Until then
// the task holds no place and no goroutine. Its context is done when the task has ended or the context of
// Shutdown is done; groups may be made from it. A panic goes to [OnPanic].
//
// Close drops tasks that were not handed over yet, and Shutdown returns them. Wait does not wait for them. The
// package documentation says more, under Timers.
//
// After uses the monotonic clock. The call synchronizes before the start of the task. It takes some 0.3 µs,
// even with a million timers.
func (p *Pool) After(d time.Duration, task func(ctx context.Context)) *Timer {
	return p.newTimer(task, false, func(x *Timer, now int64) { x.due = later(now, d) })
}

// At is [Pool.After] for a time of day. The task runs when the clock of the machine shows t. If that clock is
// set, the pool notices within a minute.
func (p *Pool) At(t time.Time, task func(ctx context.Context)) *Timer {
	return p.newTimer(task, false, func(x *Timer, _ int64) { x.due, x.wall = timeOfDay(t), true })
}

// Every runs task when d is over, and then again every d, until the pool is closed or the timer is stopped.
// Two runs never overlap: a run is skipped if the one before is still queued or running when it is due, and
// if the pool comes to it too late. [Timer.Missed] counts the skipped runs; later runs keep their times. The
// end of a run synchronizes before the start of the next. Otherwise Every is like [Pool.After]. d must be
// more than 0.
func (p *Pool) Every(d time.Duration, task func(ctx context.Context)) *Timer {
	must(d > 0, "time from one run to the next must be more than 0", d)
	return p.newTimer(task, true, func(x *Timer, now int64) { x.due, x.every = later(now, d), d })
}

func (p *Pool) newTimer(task func(ctx context.Context), repeats bool, set func(x *Timer, now int64)) *Timer {
	mustPool(p != nil)
	mustTask(task != nil)
	p.core.running()
	x := &Timer{of: p.timers(), task: task, repeats: repeats}
	x.tag = race.Here()
	if apartly(func() bool {
		x.of.mu.Lock()
		defer x.of.mu.Unlock()
		set(x, x.of.now())
		return x.of.add(x)
	}) {
		return x
	}
	dropped := &DroppedError{Arg: task, Cause: ErrClosed}
	if isFailing() { // else a handler that tries again would be called forever
		p.core.reporter.log(dropped, nil)
	} else {
		go p.core.reporter.guard(func() { p.core.reporter.fail(dropped, nil) })
	}
	return x
}

// apartly calls f, which takes the lock of timers. Under the race detector the caller is not ordered by it.
func apartly[R any](f func() R) R {
	if race.Enabled {
		return race.Apart(f)
	}
	return f()
}

// call calls the task.
func (x *Timer) call(ctx context.Context) (none error) {
	if !race.Enabled {
		x.task(ctx)
		return none
	}
	// It knows only what the caller of After had done, what it has done itself when it ran before, and the calls of Reset.
	start := x.tag.Start(&x.of.pool.core.turns)
	start.Pasts[1] = &x.past
	return race.Run(start, nil, func() error {
		defer x.past.Release()
		x.task(ctx)
		return none
	})
}

// timerRun is a run of a timer that was handed over.
type timerRun struct {
	goTask
	timer *Timer // nil once the run has begun, or is known not to
}

var _ goes = (*timerRun)(nil)

// argument returns the task of a run that does not start, for the handler of errors.
func (r *timerRun) argument() any {
	if r.timer == nil {
		return nil
	}
	return r.timer.task
}

func (r *timerRun) do(ctx context.Context) error {
	x := r.timer
	r.timer = nil
	return x.call(ctx)
}

func (r *timerRun) letGo() { r.timer = nil }

// newRun is hidden from the race detector, as the task asks its context, which is the run, and knows nothing of the goroutine of the timers.
//
//go:norace
func (x *Timer) newRun() *timerRun {
	r := &timerRun{goTask: goTask{errand: errand{pool: x.of.pool, ctx: context.Background()}}, timer: x}
	r.self = r
	return r
}

// Stop ends the timer, and reports whether it prevented a run: one that was not due, or that was queued. A
// queued run keeps its room in the queue until a worker comes to it. Stop does not wait for a run that has
// started.
func (x *Timer) Stop() bool {
	x.made()
	return apartly(func() bool {
		x.of.mu.Lock()
		defer x.of.mu.Unlock()
		stopped := x.of.remove(x)
		stopped = x.dropRun() || stopped
		x.of.arm()
		return stopped
	})
}

// dropRun ends a run that has not started. It reports whether there was one.
func (x *Timer) dropRun() bool {
	if x.run == nil || !x.run.giveUp() {
		return false
	}
	x.run.letGo() // what is queued may stay there for longer than the timer
	x.run = nil
	return true
}

// Reset makes the task run when d is over; at once if d is not positive. It does so even if the task has run,
// or was stopped. A timer of [Pool.Every] then runs every d, which must be more than 0. Reset drops a run
// that is still queued, and reports whether it prevented a run, as Stop does. On a closed pool it does nothing,
// and reports false.
func (x *Timer) Reset(d time.Duration) bool {
	x.made()
	must(d > 0 || !x.repeats, "time from one run to the next must be more than 0", d)
	x.past.Release()
	return apartly(func() bool {
		x.of.mu.Lock()
		defer x.of.mu.Unlock()
		if x.of.closed {
			return false
		}
		x.every = d
		was := x.of.remove(x)
		was = x.dropRun() || was
		x.due, x.wall = later(x.of.now(), d), false
		x.of.add(x)
		x.of.arm()
		return was
	})
}

// Next returns when the task is due; the zero time if it is not pending.
func (x *Timer) Next() time.Time {
	x.made()
	return apartly(func() time.Time {
		x.of.mu.Lock()
		defer x.of.mu.Unlock()
		if !x.pending {
			return time.Time{}
		}
		return x.dueAt()
	})
}

// dueAt returns when the task is due, or was.
func (x *Timer) dueAt() time.Time {
	if x.wall {
		return time.Unix(0, x.due)
	}
	return x.of.clock.Add(time.Duration(x.due))
}

// Missed returns how many runs of a task of [Pool.Every] were skipped: because the run before was still
// queued or running, or because the pool came to them too late.
func (x *Timer) Missed() uint64 {
	x.made()
	return apartly(func() uint64 {
		x.of.mu.Lock()
		defer x.of.mu.Unlock()
		return x.missed
	})
}

func (x *Timer) made() {
	must(x != nil && x.of != nil, "timer must be made by After, At or Every", "another")
}

// later returns the time d after now, on the same clock.
func later(now int64, d time.Duration) int64 {
	d = max(0, d)
	if now > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return now + int64(d)
}

// timeOfDay returns t as ns since 1970: now if it is over, and the last ones if it lies beyond them.
func timeOfDay(t time.Time) int64 {
	t = t.Round(0) // by the clock on the wall, which may have been set
	switch now := time.Now(); {
	case t.Before(now):
		return now.UnixNano()
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}

// timers are those of a pool. One timer of the runtime serves them all.
type timers struct {
	pool  *Pool
	clock time.Time // what the times in steady are measured from

	mu      sync.Mutex
	steady  dueHeap
	wall    dueHeap // of At, by the time of day
	pending int     // timers that are; the others in the heaps were stopped, or set anew
	timer   *time.Timer
	wakes   int64         // when it fires, since clock
	feeding bool          // feed hands over what is due
	hands   *Timer        // the one whose task it hands over
	reports []func()      // of tasks that were refused
	told    chan struct{} // closed when no report is left; nil if there is none
	closed  bool
	round   uint64 // the number of the timer
	numbers uint64 // the last one of an entry
}

// noTimers are those of a pool that was closed without any.
var noTimers = &timers{closed: true}

// timers returns those of the pool, and makes them if need be.
func (p *Pool) timers() *timers {
	if t := p.cut.timersOr(nil); t != nil {
		return t
	}
	t := noTimers
	if !p.core.glance().Closed {
		t = &timers{pool: p, clock: time.Now()}
	}
	return p.cut.timersOr(t)
}

// timersOr returns the timers of the pool, which are t if there are none yet.
func (c *cutoff) timersOr(t *timers) *timers {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = t
	}
	return c.timers
}

func (t *timers) now() int64 { return int64(time.Since(t.clock)) }

// add makes x pending, and reports whether that was possible.
func (t *timers) add(x *Timer) bool {
	if t.closed {
		return false
	}
	x.pending = true
	t.count(1)
	t.numbers++
	x.number = t.numbers
	t.heap(x).push(dueTimer{x.due, x.number, x})
	t.arm()
	return true
}

// count adds n to the timers that are pending.
func (t *timers) count(n int) {
	t.pending += n
	t.pool.core.engine.Timers(n)
}

func (t *timers) heap(x *Timer) *dueHeap {
	if x.wall {
		return &t.wall
	}
	return &t.steady
}

// remove makes x not pending, and reports whether it was. Its entry leaves the heap when it reaches the head,
// or together with many others.
func (t *timers) remove(x *Timer) bool {
	if !x.pending {
		return false
	}
	t.ends(x)
	return true
}

// ends notes that x is not pending any more.
func (t *timers) ends(x *Timer) {
	x.pending = false
	t.count(-1)
	if n := len(t.steady) + len(t.wall); n > 2*t.pending+64 {
		t.steady.compact()
		t.wall.compact()
	}
}

// look is how long the time of day is trusted to go on as before.
const look = time.Minute

// arm sets the timer of the runtime, unless feed is about to. With the first pending entry it makes a new
// one: the old one may belong to another test bubble.
func (t *timers) arm() {
	if t.feeding || t.closed {
		return
	}
	if t.pending == 0 {
		if t.timer != nil {
			t.timer.Stop()
		}
		t.timer, t.steady, t.wall = nil, nil, nil
		t.round++
		return
	}
	t.steady.drop()
	t.wall.drop()
	wakes := int64(math.MaxInt64)
	if len(t.steady) > 0 {
		wakes = t.steady[0].at
	}
	now := int64(-1)
	if len(t.wall) > 0 {
		now = t.now()
		wakes = min(wakes, now+min(int64(look), max(0, t.wall[0].at-time.Now().UnixNano())))
	}
	if t.timer != nil && t.wakes <= wakes {
		return // it fires early enough
	}
	if now < 0 {
		now = t.now()
	}
	t.wakes = wakes
	if d := time.Duration(max(0, wakes-now)); t.timer == nil {
		t.round++
		round := t.round
		t.timer = time.AfterFunc(d, func() { t.feed(round) })
	} else {
		t.timer.Reset(d)
	}
}

// feed hands over what is due.
func (t *timers) feed(round uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.round != round || t.timer == nil || t.feeding || t.closed { // stopped too late
		return
	}
	t.feeding, t.timer = true, nil
	now, day := t.now(), time.Now().UnixNano() // one that is due again meanwhile has its turn behind the others
	for x, late := t.next(now, day); x != nil; x, late = t.next(now, day) {
		t.due(x, late)
	}
	t.feeding = false
	t.arm()
}

// next returns the timer that is due first, and since when; nil if none is.
func (t *timers) next(now, day int64) (x *Timer, late time.Duration) {
	for t.steady.isDue(now) || t.wall.isDue(day) {
		from, since := &t.steady, now
		if t.wall.isDue(day) && (!t.steady.isDue(now) || t.wall[0].after(-day).before(t.steady[0].after(-now))) {
			from, since = &t.wall, day
		}
		if d := from.pop(); d.live() {
			return d.timer, time.Duration(since - d.at)
		}
	}
	return nil, 0
}

// due hands over the task of x, which is due since late. It releases the lock meanwhile.
func (t *timers) due(x *Timer, late time.Duration) {
	t.ends(x)
	if x.repeats {
		times := int64(late / x.every)
		x.missed += uint64(times)
		x.due = later(x.due, time.Duration(times+1)*x.every)
		t.add(x)
		if x.run != nil && !x.run.over() {
			x.missed++
			return
		}
	}
	r := x.newRun()
	x.run, t.hands = r, x
	t.mu.Unlock()
	err := r.submit(r.ctx)
	t.mu.Lock()
	t.hands = nil
	if err != nil && r.giveUp() { // else it was stopped
		dropped := r.drop(err)
		t.report(func() { r.reportApart(dropped) })
	}
}

// mostReports is how many reports may wait for those before them. While there are more, no task is handed over.
const mostReports = 1024

// report has call made after all that were reported before, on another goroutine: a handler may be slow, and
// may wait for a timer. It may release the lock meanwhile.
func (t *timers) report(call func()) {
	t.tells(call)
	if told := t.told; len(t.reports) >= mostReports {
		t.mu.Unlock()
		<-told
		t.mu.Lock()
	}
}

// tells adds a report.
func (t *timers) tells(call func()) {
	t.reports = append(t.reports, call)
	if t.told == nil {
		t.told = make(chan struct{})
		go t.tell()
	}
}

// tell makes the reports, until none is left.
func (t *timers) tell() {
	for {
		t.mu.Lock()
		calls := t.reports
		t.reports = nil
		if len(calls) == 0 {
			close(t.told)
			t.told = nil
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		t.pool.core.reporter.asideEach(calls)
	}
}

// end closes the timers. It returns those that run once and are pending, or wait for room, ordered by time. If
// tasks that were refused are not reported yet, told is closed when they are. No more are refused from then on.
// If reported is not nil, the caller reports those that end returns, and then closes the channel that end sets there:
// other calls of end return told, which waits for that.
func (t *timers) end(reported *chan struct{}) (pending []*Timer, told <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, t.told
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	t.closed = true
	t.steady.compact()
	t.wall.compact()
	day := time.Now().UnixNano() - t.now()
	all := t.steady
	for _, d := range t.wall {
		all = append(all, d.after(-day))
	}
	t.timer, t.steady, t.wall = nil, nil, nil
	t.count(-t.pending)
	if x := t.hands; x != nil && x.dropRun() && !x.repeats {
		pending = append(pending, x)
	}
	pending = append(pending, all.drain()...)
	if reported != nil && len(pending) > 0 {
		if *reported == nil {
			*reported = make(chan struct{})
		}
		over := *reported
		t.tells(func() { <-over })
	}
	return pending, t.told
}
