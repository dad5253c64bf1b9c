package engine

import (
	"sync/atomic"
	"time"
)

// Worker is the part of a worker that does not depend on the type of its tasks.
type Worker struct {
	// free says that the worker certainly holds no task. The worker does not
	// keep it up between two tasks that come straight from the queue: that would
	// cost every task, and no goroutine has learned that the first one is over.
	free atomic.Bool
	// detour says that there is more to do when the task in hand is over than to take the next: see
	// place. It is changed under Engine.mu.
	detour atomic.Bool
	// relied says that submissions may be refused without a look at the worker, since it
	// was seen on a task. It is changed under Engine.mu, see between.
	relied atomic.Bool
	// seen is the number up to which no wait asks the worker. The worker itself changes it,
	// or the goroutine that wakes the worker, under Engine.mu.
	seen uint64

	// Own is whatever Run and End want to find again, on the worker that they put it on.
	Own any
	// Tenant is what the holders of its context know the task in hand by, if Run has put it there.
	Tenant atomic.Pointer[Tenant]

	self interface{ mayBeFree() } // the worker, with its type

	// All of these are touched by the worker's own goroutine alone.
	ledger Ledger
	ended  int32 // tasks of the ledger that are over and not yet reported to it
	urgent bool  // the worker must report them before it takes a queued task
}

// Tenant is part of what Run knows a task by.
type Tenant struct{ Self any }

// Ledger counts tasks of one kind that are over.
type Ledger interface {
	// Ended counts n more. If it ends the wait of a task, that may have the place of by, which has
	// nothing in hand; by may be nil.
	Ended(n int, by *Worker)
}

// Credit notes that the task in hand, one of l's, is over. The worker reports it
// to l, with others before it, when it has no more tasks of l in hand: until
// then l's tasks are not all over anyway, and one atomic addition serves many.
func (w *Worker) Credit(l Ledger) {
	if w.ledger != l {
		w.Settle()
		w.ledger = l
	}
	w.ended++
}

// Hurry follows Credit where a task may wait for the end of those that were credited:
// it goes on before any that is queued.
func (w *Worker) Hurry() { w.urgent = true }

// Settle reports to the ledger what the worker has not reported yet. It must be
// called before a task that is not the ledger's runs.
func (w *Worker) Settle() { w.settle(nil) }

func (w *Worker) settle(by *Worker) {
	if n := w.ended; n > 0 {
		l := w.ledger
		w.ledger, w.ended, w.urgent = nil, 0, false
		l.Ended(int(n), by)
	}
}

// Serves reports whether the worker owes l a report.
func (w *Worker) Serves(l Ledger) bool { return w.ledger == l }

// Vacate says that the worker's task is over, though the worker has yet to find that out. The caller
// reports the end of a task without a ledger to others after Vacate: else the engine could refuse another
// task for the sake of one that has ended. The caller must not hold Engine.mu.
func (w *Worker) Vacate() {
	// First free, then the look at relied: between does it in the opposite order.
	w.free.Store(true)
	if w.relied.Load() {
		w.self.mayBeFree()
	}
}

// release says that the worker holds no task. It does so before it reports to the
// ledger: a goroutine that learns of a task's end may rely on the worker being free.
func (w *Worker) release() {
	switch {
	case w.free.Load():
	case w.ended > 0:
		w.Vacate()
	default: // the worker reports nothing before it has the lock, and is idle
		w.free.Store(true)
	}
	w.settle(w)
}

type worker[T any] struct {
	Worker
	engine  *Engine[T]
	seat    int32         // its index in Engine.crew
	idle    bool          // holds no task, and takes none but under Engine.mu
	gone    bool          // no goroutine is to go on for it: it has ended, or the program goes down
	rests   bool          // its own goroutine is about to take the lock in rest
	recalls *Absence[T]   // of a task whose wait the worker has ended; rest recalls it
	parked  chan order    // of capacity 1; nil until the worker first rests
	since   time.Duration // when it began to rest
	hand    T             // the task that comes with orderRun
	place   *place[T]     // nil until the worker has a task that waits, or that is one of a source
}

type order uint8

const (
	orderSearch order = iota // look for a task; the permit and the token are yours
	orderRun                 // run the task in hand; the permit is yours
	orderQuit                // end
	orderTake                // look for a task; only the permit is yours
)

// work is the life of a worker. A task that ends the goroutine by
// runtime.Goexit does not end the worker: it goes on in a new goroutine.
func (e *Engine[T]) work(w *worker[T], o order) {
	defer func() {
		if !w.gone {
			go e.work(w, orderTake)
		}
	}()
	e.Begin()
	for !e.session(w, o) {
		o = orderTake
	}
}

// session runs tasks until the worker is to end (true), or a task panics
// (false). The deferred call is here, so that one serves many tasks.
func (e *Engine[T]) session(w *worker[T], o order) (over bool) {
	var task, none T
	running := false
	defer func() {
		if !running {
			return
		}
		panicked := recover()
		if panicked != nil {
			if e.Crash {
				// No goroutine may learn that the task is over, and no other task
				// starts on this worker, while the program goes down.
				w.gone = true
				panic(panicked)
			}
			e.mu.Lock()
			e.panicked++
			e.mu.Unlock()
		}
		e.broken(w, task, panicked)
	}()
	for {
		if o != orderRun {
			if task, o = e.next(w, o == orderSearch); o == orderQuit {
				return true
			}
		} else {
			task = w.takeHand()
		}
		o = orderTake
		running = true
		e.Run(&w.Worker, task)
		running = false
		task = none // a worker at rest must not keep a finished task alive
	}
}

// broken reports a task that panicked or called runtime.Goexit.
func (e *Engine[T]) broken(w *worker[T], task T, panicked any) {
	defer func() {
		if again := recover(); again != nil { // only as Crash wants it
			w.gone = true
			panic(again)
		}
	}()
	e.Broken(&w.Worker, task, panicked)
}

// makePlace makes the channel on which the worker parks. The worker must not hold the lock:
// many workers may come here at once.
func (w *worker[T]) makePlace() {
	if w.parked == nil {
		w.parked = make(chan order, 1)
	}
}

func (w *worker[T]) takeHand() T {
	task := w.hand
	var zero T
	w.hand = zero
	return task
}

// next finds the next task for w, which holds a permit, and the token if
// searching. The order that comes with the task is orderRun, or orderQuit if
// there is none and the worker is to end.
func (e *Engine[T]) next(w *worker[T], searching bool) (task T, o order) {
	for {
		if w.detour.Load() {
			if task, ok := e.nextBelow(w); ok {
				return task, orderRun
			}
			if task, o = e.rest(w, searching); o == orderRun || o == orderQuit {
				return task, o
			}
			searching = o == orderSearch
			continue
		}
		if w.urgent {
			w.release()
		}
		if r := e.queue.head.Load(); r != nil {
			task, behind, took := r.pop(&e.waitAt)
			if took == moved {
				if w.free.Load() {
					w.free.Store(false)
				}
				// The token first: a goroutine that closes the gate for a source, and finds
				// the token taken, relies on the token's holder to look at the gate.
				if searching {
					e.endSearch()
				}
				if e.asks(w) || r.gated() {
					e.attend(w, behind)
				}
				return task, orderRun
			}
		}
		// The worker does not yield before it rests: where other goroutines compute on all
		// processors, it waits behind them for tens of milliseconds, and so does, while it
		// has a permit or the token, whatever is submitted meanwhile.
		switch task, o = e.rest(w, searching); o {
		case orderRun, orderQuit:
			return task, o
		default:
			searching = o == orderSearch
		}
	}
}

// endSearch releases the token and makes sure that no other task waits
// behind the one that the worker has found.
func (e *Engine[T]) endSearch() {
	e.permits.endSearch()
	if e.available() && e.permits.wakeable() {
		e.stir()
	}
}

// nextBelow finds the next task for a worker whose place is lent to it, as long as its last task
// has siblings: then no waiter has to learn yet that the last task is over.
func (e *Engine[T]) nextBelow(w *worker[T]) (task T, ok bool) {
	p := w.place
	s := p.from // no other goroutine changes that while the worker is active
	if !w.urgent || s == nil || s.open.Load() == 0 {
		return task, false
	}
	e.mu.Lock()
	if p.beneath == nil || s.want.host == nil || p.waits > 0 || p.away > 0 || p.awaits.First() != nil || p.lost || len(s.crowded) > 0 || e.returning.First() != nil || e.paused || !e.serves(w, s) {
		e.mu.Unlock()
		return task, false
	}
	if task, ok = s.claim(); !ok {
		e.mu.Unlock()
		return task, false
	}
	e.claimed(s)
	// What the worker is asked for is over when the task beneath it is, whose worker was asked, too.
	if !e.asks(w) && s.void == nil {
		e.mu.Unlock()
		return task, true
	}
	e.report(w, 0)
	e.unlock()
	return task, true
}

// serves reports whether the place of w is lent by the task that waits for s.
func (e *Engine[T]) serves(w *worker[T], s *Source[T]) bool { return s.want.host == w.place.beneath }

// attend serves a worker that a wait asks to report, or that took a task
// while the gate closed. The task, if any, ends at position behind.
func (e *Engine[T]) attend(w *worker[T], behind uint64) {
	e.mu.Lock()
	e.report(w, behind)
	e.unlock()
}

// rest is the slow way to a task: the worker takes one under the lock, or parks
// until it gets one, or the order to search or to end.
func (e *Engine[T]) rest(w *worker[T], searching bool) (task T, o order) {
	w.makePlace()
	w.rests = true
	w.release()
	w.rests = false
	e.mu.Lock()
	if a := w.recalls; a != nil {
		w.recalls = nil
		e.recall(a, &w.Worker)
	}
	e.ends(w)
	e.withdraw(w)
	if !e.settlePlace(w) {
		return e.park(w) // without a permit
	}
	if p := w.place; p != nil && p.beneath != nil {
		return e.restBelow(w)
	}
	if !e.halted() && !e.placeWanted() {
		var ok bool
		if task, ok = e.takeLocked(w); ok {
			e.engage(w)
			w.free.Store(false)
			if searching {
				e.permits.endSearch()
			}
			e.unlock()
			return task, orderRun
		}
	}
	// The worker first releases the permit and the token, and then, in unlock, looks at the
	// queue once more. A submitter does it in the opposite order, so one of the two sees the
	// other; a goroutine who takes the permit finds w idle under the lock.
	e.permits.leave(searching)
	return e.park(w)
}

// restBelow is rest for a worker whose place is lent to it, by a task that still waits.
func (e *Engine[T]) restBelow(w *worker[T]) (task T, o order) {
	b := w.place.beneath
	found, ok := e.claimFor(b)
	if ok && found.returning == nil {
		w.take(found.from)
		w.place.strange, w.place.moved = false, false
		e.engage(w)
		w.free.Store(false)
		if found.from != nil {
			e.eased(found.from)
		}
		e.unlock()
		return found.task, orderRun
	}
	e.unstack(w)
	w.detour.Store(false)
	e.vacate(b)
	if ok {
		e.lend(b, found)
	} else {
		e.fill(b)
	}
	for l := b.place.awaits.First(); e.paused && l != nil; {
		s := l.Of().source
		l = l.Next()
		if s != nil {
			e.recallLender(s)
		}
	}
	return e.park(w)
}

// park makes w, which holds no permit any more, wait for an order, or end. It
// releases the lock.
func (e *Engine[T]) park(w *worker[T]) (task T, o order) {
	if e.superfluous() {
		e.leaving++
		e.depart(w)
		return task, orderQuit
	}
	e.idle = append(e.idle, w)
	e.arm(w)
	e.unlock()
	e.Begin()
	switch o = <-w.parked; o {
	case orderRun:
		task = w.takeHand()
	case orderQuit:
		e.mu.Lock()
		e.depart(w)
	}
	return task, o
}

// depart ends w, which is one of the workers that leave. It releases the lock.
func (e *Engine[T]) depart(w *worker[T]) {
	w.gone = true
	if e.End != nil {
		e.unlock() // others go on while End closes what the worker owns
		defer func() {
			if panicked := recover(); panicked != nil {
				panic(panicked) // no goroutine may learn that w has ended while the program goes down
			}
			e.mu.Lock()
			e.struck(w)
		}()
		e.End(&w.Worker)
		return
	}
	e.struck(w)
}

// struck removes w from the crew, and releases the lock.
func (e *Engine[T]) struck(w *worker[T]) {
	e.leaving--
	e.strike(w)
	e.unlock()
}

// takeLocked takes the next task for w: one of a source, if there is any.
func (e *Engine[T]) takeLocked(w *worker[T]) (task T, ok bool) {
	if task, from, ok := e.claim(); ok {
		w.take(from)
		return task, true
	}
	return e.takeQueued()
}

// takeQueued takes the oldest task from the queue or, where that has no room for any,
// from the first submitter in the line.
func (e *Engine[T]) takeQueued() (task T, ok bool) {
	if len(e.waits) > 0 {
		// Else other workers could take the last task before that position between the two
		// looks at it, and the pop, which no position stops, could take one behind it.
		e.queue.setGates(true, e.queue.tailGated)
	}
	e.checkWaits() // before anything behind their position is taken
	if s := e.line.first(); s != nil && e.queue.capacity == 0 {
		task = s.value
		e.queue.pass()
		e.line.leave(s, Accepted)
		return task, true
	}
	return e.queue.pop()
}

// superfluous reports whether a worker that has nothing to do is to end rather
// than rest.
func (e *Engine[T]) superfluous() bool {
	return e.IdleTimeout == 0 || e.excess() > 0 || e.dismissed != nil ||
		e.closed && e.queue.len() == 0 && !e.delegating()
}

// strike removes a worker from the crew.
func (e *Engine[T]) strike(w *worker[T]) {
	if w.seat < e.candidates {
		e.candidates--
		e.swap(w.seat, e.candidates)
	}
	last := len(e.crew) - 1
	e.swap(w.seat, int32(last))
	e.crew[last] = nil
	e.crew = e.crew[:last]
	if len(e.crew) > 0 {
		return
	}
	// Nothing that lasts may refer to an engine without workers, nor it to a timer
	// or a channel that may belong to a test bubble about to end.
	if e.armed {
		e.timer.Stop()
	}
	e.armed, e.timer = false, nil
	e.spare = 0
	e.line.release()
	if e.dismissed == nil { // else the engine is soon used again
		e.crew, e.idle = nil, nil
		e.queue.release()
	}
}

// excess is by how much the workers that are to stay exceed the limit, and what
// waiting tasks need beyond it.
func (e *Engine[T]) excess() int { return len(e.crew) - e.leaving - int(e.spare) - e.limit }

// quitIdle tells the n workers that have been idle for longest to end.
func (e *Engine[T]) quitIdle(n int) {
	e.leaving += n
	for _, w := range e.idle[:n] {
		w.parked <- orderQuit
	}
	rest := copy(e.idle, e.idle[n:])
	clear(e.idle[rest:])
	e.idle = e.idle[:rest]
}

// arm starts the timer that ends idle workers, unless it runs. One timer
// serves the whole engine, and it runs only while there are workers. The
// first worker to rest makes it anew, and does not reset it: that worker may live in
// another test bubble than the last one.
func (e *Engine[T]) arm(w *worker[T]) {
	w.since = time.Since(e.clock)
	if !e.armed {
		e.armed = true
		e.timer = time.AfterFunc(e.IdleTimeout, e.expire)
	}
}

// expire ends the workers whose idle time is over. They are the oldest of the
// stack, since the engine wakes the newest first.
func (e *Engine[T]) expire() {
	e.mu.Lock()
	if !e.armed { // stopped too late
		e.mu.Unlock()
		return
	}
	now := time.Since(e.clock)
	n := 0
	for n < len(e.idle) && now-e.idle[n].since >= e.IdleTimeout {
		n++
	}
	e.quitIdle(n)
	e.spare = e.lent
	if e.armed = len(e.idle) > 0; e.armed {
		e.timer.Reset(e.idle[0].since + e.IdleTimeout - now)
	}
	e.unlock()
}
