package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// Worker is a goroutine that runs tasks, or waits for some.
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
	order  order // with which it begins; orderTake when it has begun
	leaves bool  // it is to leave its place
	// seen is the number up to which no wait asks the worker. The worker itself changes it,
	// or the goroutine that wakes the worker, under Engine.mu.
	seen uint64

	// Own is whatever Run and End want to find again, on the worker that they put it on.
	Own any
	// Label is that of the task in hand, if Run has put it there; Run removes it when the task is over.
	Label atomic.Pointer[string]
	// Tenant is what the holders of its context know the task in hand by, if Run has put it there.
	Tenant atomic.Pointer[Tenant]

	// All of these are touched by the worker's own goroutine alone.
	ledger Ledger
	ended  int32 // tasks of the ledger that are over and not yet reported to it
	urgent bool  // the worker must report them before it takes a queued task
	number uint16

	engine  *Engine
	index   int32         // its index in Engine.workers
	idle    bool          // holds no task, and takes none but under Engine.mu
	gone    bool          // no goroutine is to go on for it: it has ended, or the program goes down
	tells   bool          // it is in a call of Engine.expired
	rests   bool          // its own goroutine is about to take the lock in rest
	recalls *Waiter       // of a task whose wait the worker has ended; rest recalls it
	parked  *parking      // nil until the worker first rests
	since   time.Duration // when it began to rest; or, for the root's clock, to run a task of the queue while lanes want places; else 0
	hand    Task          // the task that comes with orderRun
	mark    mark          // of the task that the worker has taken, or has in hand; 0 if that is not measured
	begun   atomic.Int64  // when it began, in ns since Engine.clock; 0 while no measured task runs
	place   *place        // nil until the worker has a task that waits, or a subtask

	carrier *Worker       // on whose goroutine it runs, if it is a lane's
	carries *Worker       // the one of a lane that runs on its goroutine
	turn    time.Duration // when it began to run what it runs by turns, on the root's clock; 0 if that is not measured
}

// Tenant is part of what Run knows a task by.
type Tenant struct{ Self any }

// Forget lets the worker forget its tenant, if that is t and not one that Run has put there since.
func (w *Worker) Forget(t *Tenant) { w.Tenant.CompareAndSwap(t, nil) }

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
		w.Report()
		w.ledger = l
	}
	w.ended++
}

// Hurry follows Credit where a task may wait for the end of those that were credited:
// it goes on before any that is queued.
func (w *Worker) Hurry() { w.urgent = true }

// Report reports to the ledger what the worker has not reported yet. It must be
// called before a task that is not the ledger's runs.
func (w *Worker) Report() { w.report(nil) }

func (w *Worker) report(by *Worker) {
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
		w.mayBeFree()
	}
}

// finish says that the worker holds no task. It does so before it reports to the
// ledger: a goroutine that learns of a task's end may rely on the worker being free.
func (w *Worker) finish() {
	switch {
	case w.free.Load():
	case w.ended > 0:
		w.Vacate()
	default: // the worker reports nothing before it has the lock, and is idle
		w.free.Store(true)
	}
	w.report(w)
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
func (w *Worker) work() {
	e, o := w.engine, w.order
	w.order = orderTake
	over := false // then a worker of a lane may be in use again
	defer func() {
		if !over && !w.gone && w.carrier == nil {
			w.order = w.again()
			go w.work()
		}
	}()
	if o == orderSearch {
		e.begins(w)
	}
	e.Begin(w)
	for !e.session(w, o) {
		o = orderTake
	}
	over = true
	e.depart(w)
}

// session runs tasks until the worker is to end (true, and under the lock), or a task panics
// (false). The deferred call is here, so that one serves many tasks.
func (e *Engine) session(w *Worker, o order) (over bool) {
	var task, none Task
	running := false
	c := contention{clock: e.clock}
	defer func() {
		if !running || w.carries != nil {
			return
		}
		if w.mark == isCarrier { // the worker that it has carried has ended, and End with it the goroutine
			w.mark = 0
			return
		}
		panicked := recover()
		if w.hasTold() {
			return
		}
		if w.mark != 0 {
			e.measured(w)
		}
		if panicked != nil {
			if e.Crash {
				// No goroutine may learn that the task is over, and no other task
				// starts on this worker, while the program goes down.
				w.goes()
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
			if task, o = e.next(w, o == orderSearch, &c); o == orderQuit {
				return true
			}
		} else {
			task = w.takeHand()
		}
		o = orderTake
		running = true
		if w.mark != 0 {
			e.runMarked(w, task)
		} else {
			e.Run(w, task)
		}
		running = false
		task = none // a worker at rest must not keep a finished task alive
	}
}

// broken reports a task that panicked or called runtime.Goexit.
func (e *Engine) broken(w *Worker, task Task, panicked any) {
	defer func() {
		if again := recover(); again != nil { // only as Crash wants it
			w.goes()
			panic(again)
		}
	}()
	e.Broken(w, task, panicked)
}

// goes notes that the program goes down with a task of w.
func (w *Worker) goes() {
	for ; w != nil; w = w.carrier {
		w.gone = true
	}
}

// parking is where a worker that rests waits for its order. A condition variable needs half as much code as a channel to wake a goroutine. Its L is the parking:
// [sync.Cond.Wait] calls Unlock when Signal counts already. So a goroutine that finds the worker at rest, under Engine.mu, can wake it.
type parking struct {
	wake   sync.Cond
	worker *Worker
	order  atomic.Int32
}

// wait is called under Engine.mu, which it releases.
func (p *parking) wait() order {
	p.wake.Wait()
	return order(p.order.Load())
}

// give gives an order to the worker, which rests. The caller holds Engine.mu.
func (p *parking) give(o order) {
	p.order.Store(int32(o))
	p.wake.Signal()
}

// Unlock implements [sync.Locker].
func (p *parking) Unlock() {
	e := p.worker.engine
	e.unlock()
	e.Begin(p.worker)
}

// Lock implements [sync.Locker].
func (p *parking) Lock() {}

// makePlace makes the place where the worker parks. The worker must not hold the lock:
// many workers may come here at once.
func (w *Worker) makePlace() {
	if w.parked == nil {
		w.parked = &parking{worker: w}
		w.parked.wake.L = w.parked
	}
}

func (w *Worker) takeHand() Task {
	task := w.hand
	var zero Task
	w.hand = zero
	return task
}
