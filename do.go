package weir

import (
	"context"
	"fmt"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// Do runs task on the calling goroutine, in the place of a worker. It waits for its turn as a
// submitted task does, in order with them, and counts against the limit while it runs.
//
// Do returns what task returned. If task was never called, the error says why: [ErrClosed] if the
// pool is closed, or is shut down before it is task's turn, [ErrFull] as for [Pool.Submit],
// [ErrExpired], or the cause of ctx if that is done first. After a panic or [runtime.Goexit] in task the place is free
// again, and the panic or exit goes on in the calling goroutine; [OnPanic] is not called.
//
// The context that task gets is ctx as a task of the pool: groups made from it may wait, see
// promise 9. If ctx is from a task of the pool, task runs in the place of that at once, and beyond
// the limit if that has given its place up by [Blocking]. Close waits for task to end, and so does
// Wait if it was called later.
func (p *Pool) Do(ctx context.Context, task func(ctx context.Context) error) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	mustTask(task != nil)
	host := hostOf(ctx)
	if host.pool == p {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return task(ctx)
	}
	v := &visit{pool: p, turn: make(chan struct{}, 1), over: make(chan struct{})}
	v.self = v
	if host.pool == nil {
		return v.call(ctx, task)
	}
	return v.callInTask(ctx, host, task)
}

// callInTask is call for a caller that is a task of another pool.
//
//go:noinline
func (v *visit) callInTask(ctx context.Context, host task, task func(context.Context) error) (err error) {
	want := new(engine.SingleWant)
	want.Init(claimer{&v.progress, &v.self}, &v.single, false)
	v.want, v.by, v.at = &want.Want, host.host, host.pool
	host.await(v.pool, v.want, func(*engine.Wakeup) { err = v.call(ctx, task) })
	return err
}

// visit is a task that runs elsewhere, while its worker waits. It is the context of the task.
type visit struct {
	self            listener // refers to the visit itself: what travels through the pool
	pool            *Pool
	context.Context              // what the caller gave
	label           *label       // of that
	by              host         // the task that calls Do; nil if none does
	at              *Pool        // of by
	want            *engine.Want // what by waits for; nil if by is
	others          crossings    // see host.across
	progress
	turn chan struct{} // of capacity 1: the worker waits for the visitor, or err is set
	over chan struct{} // closed when the visitor has left
	// The worker that waits for the visitor, set before it is the visitor's turn.
	worker  *engine.Worker
	claimed bool // the visit started out of turn, without one of the rate; set likewise
	err     error
}

// call calls task when the visitor has its place.
func (v *visit) call(ctx context.Context, task func(context.Context) error) error {
	if race.Enabled {
		return v.raced(ctx, task)
	}
	if err := v.wait(ctx); err != nil {
		return err
	}
	defer v.finish()
	if ctx.Err() != nil {
		v.returnTurn()
		return context.Cause(ctx)
	}
	v.begins(ctx)
	return task(v)
}

// returnTurn gives back the turn of a visitor that leaves without its task. The worker itself has set v.claimed: see task.
//
//go:norace
func (v *visit) returnTurn() {
	if !v.claimed {
		v.pool.core.engine.Untake()
	}
}

// begins makes the visit the context of the task.
func (v *visit) begins(ctx context.Context) {
	v.Context = ctx
	if v.label = labelOf(ctx); v.label != nil {
		v.task().worker.Label.Store(&v.label.name)
	}
}

// wait returns nil when the visitor has its place, which finish gives back.
func (v *visit) wait(ctx context.Context) error {
	done := ctx.Done() // before the visit is in the pool: a context of the program's own type may panic
	if err := v.pool.core.submitWanted(ctx, listenerJob(&v.self, nil, inTurn).Task, v.want, nil); err != nil {
		return err
	}
	select {
	case <-v.turn:
	case <-done:
		if v.giveUp() {
			v.pool.core.engine.Discard(one) // a worker that comes to it skips it
			return causeOf(ctx)
		}
		<-v.turn
	}
	return v.err
}

func one() int { return 1 }

func (v *visit) Value(key any) any {
	switch key {
	case hostKey{}:
		return v
	case labelKey{}:
		return v.label
	}
	return v.Context.Value(key)
}

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (v *visit) String() string { return fmt.Sprintf("%v.Task", v.Context) }

// Stay implements [inside.Task].
func (v *visit) Stay(group, feeder any) inside.Stay { return v.task().stay(group, feeder) }

// task implements host. The worker itself has set v.worker, and the visitor knows nothing of that: see package race.
//
//go:norace
func (v *visit) task() task { return v.progress.task(v.pool, v.worker, v) }

// awaited implements host.
func (v *visit) awaited() (*engine.Single, *engine.Subtasks) { return &v.single, nil }

// across implements host.
func (v *visit) across() *across {
	if v.by == nil {
		return nil
	}
	return v.others.get(v.pool, v.by, v.at)
}

// above implements host.
func (v *visit) above() (host, *engine.Want) { return v.by, v.want }

// finish gives the place back. A context that outlives the visit is not a task's any more.
func (v *visit) finish() {
	t := v.task()
	if t.worker.Label.Load() != nil {
		t.worker.Label.Store(nil)
	}
	v.end()
	t.worker.Vacate()
	close(v.over)
}

// run lets the visitor in, on a worker.
func (v *visit) run(_ context.Context, w *engine.Worker, number int) error {
	if !v.begin(number == claimed) {
		v.pool.core.engine.Skipped()
		return nil
	}
	v.worker, v.claimed = w, number == claimed
	v.turn <- struct{}{}
	<-v.over
	return nil
}

// void implements listener.
func (v *visit) void() bool { return !v.state.Queued() }

// failed implements listener. A visit itself does not fail.
func (v *visit) failed(failure *TaskError) { v.refuse(failure.Err) }

// refuse turns away a visitor whose turn never comes.
func (v *visit) refuse(err error) bool {
	if !v.giveUp() {
		return false
	}
	v.err = err
	v.turn <- struct{}{}
	return true
}
