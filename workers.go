package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// workers is what [Pool] and [FuncPool] have in common: everything but how a
// task is handed over, and handed back.
type workers[T any] struct {
	engine   *engine.Engine[T]
	reporter reporter
	turns    race.Turns
	shared   bool // the default pool, which nobody may close
}

// running returns the engine of a pool that was made by New or NewFunc.
func (w *workers[T]) running() *engine.Engine[T] {
	if w.engine == nil {
		panic("weir: pool must be made by New, NewFunc or NewStateful, got the zero value")
	}
	return w.engine
}

func (w *workers[T]) start(o options, c engine.Config[T]) {
	w.reporter = reporter{pool: o.name, onPanic: o.onPanic}
	w.turns.Limit(o.limit)
	w.turns.Queue(o.queue)
	w.engine = engine.New(c)
	if o.prestart > 0 {
		w.engine.Start(o.prestart)
	}
}

// submit waits for room until ctx is done.
func (w *workers[T]) submit(ctx context.Context, task T) error {
	return w.submitWanted(ctx, task, nil, nil)
}

// submitWanted is submit for a task that a task waits for: see [engine.Want].
func (w *workers[T]) submitWanted(ctx context.Context, task T, want *engine.Want[T], wakeup *engine.Wakeup) error {
	if ctx.Err() != nil {
		w.running().Reject()
		return context.Cause(ctx)
	}
	verdict := w.running().SubmitWanted(task, ctx.Done(), want, wakeup)
	if verdict == engine.Cancelled {
		return context.Cause(ctx)
	}
	return refusal(verdict)
}

// report deals with a task that did not return; panicked is nil if it did not
// panic either.
func (w *workers[T]) report(panicked any) {
	if panicked != nil {
		w.tell(w.reporter.caught(panicked))
	}
}

// tell hands a panic to the handler, which is a part of the task.
func (w *workers[T]) tell(p *Panic) {
	w.turns.Begin()
	defer w.turns.End()
	w.reporter.report(p)
}

func refusal(verdict engine.Verdict) error {
	switch verdict {
	case engine.Closed:
		return ErrClosed
	case engine.Full:
		return ErrFull
	default:
		return nil
	}
}

// Wait blocks until all tasks accepted before the call have finished. The pool
// stays open, and tasks submitted meanwhile are not waited for. Any number of
// goroutines may wait at once; a task of the pool itself must not, for it would
// wait for itself. While the pool is paused, queued tasks keep Wait blocked, also
// those of futures and calls that were given up; a cancelled group or Do takes its own back.
// Subtasks count with the task that waits for them: if none does, neither does Wait.
//
// The end of each of these tasks synchronizes before the return of Wait.
func (w *workers[T]) Wait() { w.running().Wait(nil) }

// WaitContext is [Pool.Wait] until ctx is done; then it returns the context's
// cause. Waiting again later is possible.
func (w *workers[T]) WaitContext(ctx context.Context) error {
	mustContext(ctx != nil)
	if !w.running().Wait(ctx.Done()) {
		return context.Cause(ctx)
	}
	return nil
}

// Resize sets the limit. It does not block. When it returns, no worker takes a
// further task while limit or more run; tasks that a worker has taken are left
// alone, and idle workers beyond the limit end. A higher limit is used at once.
func (w *workers[T]) Resize(limit int) {
	mustLimit(limit)
	e := w.running()
	w.turns.Limit(limit)
	w.turns.Order()
	e.Resize(limit)
}

// Pause stops workers from taking tasks, and does not block; those that have taken
// one go on. Tasks are accepted and queued while the queue has room: no worker is
// free to take one more. Pausing twice is the same as pausing once; Close and
// Shutdown end the pause, and after them Pause does nothing. If the context of Shutdown
// is done already, none of the tasks that are queued then starts: all are handed back.
func (w *workers[T]) Pause() { w.running().Pause() }

// Resume ends a [Pool.Pause].
func (w *workers[T]) Resume() {
	e := w.running()
	w.turns.Resume()
	e.Resume()
}

// Close stops accepting tasks, runs all that were accepted (also those of a
// paused pool), and returns when the last worker has ended. Submitters that wait
// for room get [ErrClosed]. Close may be called more than once and by several
// goroutines; each call returns when all is done. A task of the pool itself must
// not call it, for it would wait for itself.
//
// The end of every task synchronizes before the return of Close.
func (w *workers[T]) Close() {
	w.mustBeOwn()
	e := w.running()
	w.turns.Order()
	e.Close()
}

func (w *workers[T]) mustBeOwn() {
	if w.shared {
		panic("weir: the default pool is shared and cannot be closed")
	}
}

// Stats returns counts of what the pool has done and is doing. It takes a lock
// and looks at each worker, so it is meant for monitoring rather than
// for decisions on a hot path.
func (w *workers[T]) Stats() Stats { return Stats(w.running().Stats()) }

func (w *workers[T]) shutdown(ctx context.Context) ([]T, error) {
	mustContext(ctx != nil)
	w.mustBeOwn()
	e := w.running()
	w.turns.Order()
	unrun, finished := e.Shutdown(ctx.Done())
	if finished {
		return nil, nil
	}
	return unrun, context.Cause(ctx)
}
