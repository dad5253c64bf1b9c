package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// Worker is a goroutine that runs tasks, or waits for some.
type Worker struct {
	// free says that the worker certainly holds no task. The worker does not keep free up to date between two
	// tasks that come straight from the queue: that would cost every task, and no goroutine has learned that
	// the first one is over.
	free atomic.Bool
	// detour says that the worker has more to do when its task is over than to take the next one: see place.
	// It is changed under Engine.mu.
	detour atomic.Bool
	// relied says that the worker was seen on a task, and that submissions may be refused since without a
	// look at it. It is changed under Engine.mu, see between.
	relied atomic.Bool
	order  order // the order with which its goroutine begins; orderTake from then on
	leaves bool  // it has to leave its place
	fresh  bool  // the task in hand was handed over right after its submission
	// seen is the number up to which no wait asks the worker. The worker itself changes it, or, under
	// Engine.mu, the goroutine that wakes the worker.
	seen uint64

	// Own belongs to Run and End: what they put here they find again on the same worker.
	Own any
	// Label is the label of the task in hand, if Run has set it; Run removes it when the task is over.
	Label atomic.Pointer[string]
	// Tenant identifies the task in hand for the holders of its context, if Run has set it.
	Tenant atomic.Pointer[Tenant]

	// Only the worker's own goroutine touches the fields from here to urgent.
	ledger Ledger
	ended  int32 // tasks of ledger that are over and not yet reported to it
	urgent bool  // the worker must report ended before it takes a queued task
	number uint16

	engine  *Engine
	index   int32         // its index in Engine.workers
	idle    bool          // it holds no task, and takes one only under Engine.mu
	gone    bool          // no goroutine may go on for it: it has ended, or the program goes down
	tells   bool          // it is in the call that Engine.expired makes
	rests   bool          // its own goroutine is about to take the lock in rest
	recalls *Waiter       // waiter of a task whose wait the worker has ended; rest recalls it
	parked  *parking      // nil until the worker first rests
	since   time.Duration // when it began to rest; or, on the root's clock, to run a task of the queue while lanes want places; else 0
	hand    Task          // the task that comes with orderRun
	mark    mark          // the mark of the task taken or in hand, 0 if it is not measured; isCarrier while the worker carries another
	begun   atomic.Int64  // when the task began, in ns since Engine.clock; 0 while no measured task runs
	place   *place        // nil until the worker has had a task that waits, or a subtask

	carrier *Worker       // the worker on whose goroutine this one runs, if it is a lane's
	carries *Worker       // the worker of a lane that runs on this one's goroutine
	turn    time.Duration // when its turn began, on the root's clock; 0 while its run time is not charged
}

// Tenant is a part of Run's own record of a task. Self leads back to that record.
type Tenant struct{ Self any }

// SetTenant sets the tenant of w, which is about to begin a task, and reports whether Cut was called: then Cut may not have found the tenant. SetTenant
// writes the tenant first, and then looks at cut. Cut does it in the opposite order, so one of the two sees the other.
func (w *Worker) SetTenant(t *Tenant) (cut bool) {
	w.Tenant.Store(t)
	return w.engine.cut.Load()
}

// Forget removes the tenant of the worker, if that is t and not one that Run has put there since.
func (w *Worker) Forget(t *Tenant) { w.Tenant.CompareAndSwap(t, nil) }

// Ledger counts the finished tasks of one kind.
type Ledger interface {
	// Ended counts n more. If it ends the wait of a task, that task may get the place of by, which has
	// nothing in hand. by may be nil.
	Ended(n int, by *Worker)
}

// Credit notes that the task in hand, one of l's, is over. The worker reports it to l, with others before it,
// when it has no more tasks of l in hand. Until then l's tasks are not all over anyway, and one atomic
// addition serves many tasks.
func (w *Worker) Credit(l Ledger) {
	if w.ledger != l {
		w.Report()
		w.ledger = l
	}
	w.ended++
}

// Hurry follows Credit if a task may wait for the end of the credited tasks. That task goes on before any
// queued task starts.
func (w *Worker) Hurry() { w.urgent = true }

// Report reports to the ledger the tasks that the worker has not reported yet. It must be called before the
// worker runs a task of another ledger, or of none.
func (w *Worker) Report() { w.report(nil) }

func (w *Worker) report(by *Worker) {
	if n := w.ended; n > 0 {
		l := w.ledger
		w.ledger, w.ended, w.urgent = nil, 0, false
		l.Ended(int(n), by)
	}
}

// Unreported returns how many tasks of l were over before the one in hand, and are not reported yet. It is for callers that only look: the worker may
// go on meanwhile, and write what Unreported reads. That costs the worker nothing, and is hidden from the race detector.
//
//go:norace
func (w *Worker) Unreported(l Ledger) int {
	if w.ledger != l {
		return 0
	}
	return int(w.ended)
}

// Serves reports whether the worker still has to report to l.
func (w *Worker) Serves(l Ledger) bool { return w.ledger == l }

// Vacate says that the worker's task is over, before the worker finds that out itself. The end of a task
// without a ledger may be reported to others only after Vacate: otherwise the engine could refuse another
// task because of one that has ended. The caller must not hold Engine.mu.
func (w *Worker) Vacate() {
	// First write free, then look at relied: between does it in the opposite order.
	w.free.Store(true)
	if w.relied.Load() {
		w.mayBeFree()
	}
}

// finish says that the worker holds no task, before it reports to the ledger: a goroutine that learns of a
// task's end may rely on the worker being free.
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
	orderSearch order = iota // look for a task; the worker has a permit and the token
	orderRun                 // run the task in hand; the worker has a permit
	orderQuit                // end
	orderTake                // look for a task; the worker has a permit, but not the token
)

// work is the life of a worker. A task that ends the goroutine by runtime.Goexit does not end the worker,
// which goes on in a new goroutine.
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

// session runs tasks until the worker must end (it reports true then, and holds the lock) or a task panics
// (false). The deferred call is in session, so that one call serves many tasks.
func (e *Engine) session(w *Worker, o order) (over bool) {
	var task, none Task
	running := false
	c := contention{clock: e.clock}
	defer func() {
		if !running || w.carries != nil {
			return
		}
		if w.mark == isCarrier { // the worker that w carried has ended, and its End has ended the goroutine
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

// goes notes, for w and the workers that carry it, that a task on them takes the program down.
func (w *Worker) goes() {
	for ; w != nil; w = w.carrier {
		w.gone = true
	}
}

// parking is where a resting worker waits for its order. Waking a goroutine with a condition variable takes
// half as much code as with a channel. The condition's L is the parking itself: when [sync.Cond.Wait] calls
// Unlock, a Signal counts already. So a goroutine that finds the worker at rest, under Engine.mu, can wake
// it.
type parking struct {
	wake   sync.Cond
	worker *Worker
	order  atomic.Int32
}

// wait is called under Engine.mu, and releases it.
func (p *parking) wait() order {
	p.wake.Wait()
	return order(p.order.Load())
}

// give gives an order to the worker, which is at rest. The caller holds Engine.mu.
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

// makePlace makes the parking of the worker. The worker must not hold the lock: many workers may come here at
// once.
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
