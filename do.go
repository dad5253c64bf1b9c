package weir

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/64ed045f/weir/internal/engine"
)

// Do runs task on the calling goroutine, in the place of a worker: it waits for its turn as a
// submitted task does, in order with them, and counts against the limit while it runs. So work
// that must stay on its goroutine, such as a request that net/http serves, shares the pool's
// limit with tasks.
//
// Do returns what task returned. If task was never called, the error says why: [ErrClosed] if
// the pool is closed, or is shut down before it is task's turn, [ErrFull] as for
// [Pool.Submit], or the cause of ctx if that is done first. After a panic or [runtime.Goexit] in
// task the place is free again, and the panic or exit goes on in the calling goroutine;
// [OnPanic] is not called. If ctx is from a task of the pool, which has a place already, task
// runs in that place at once; so calls from several goroutines of one task run at once.
//
// The context that task gets is ctx as a task of the pool: groups made from it may wait,
// see promise 9. Close waits for task to end, and so does Wait if it was called later.
//
// A call that is cancelled leaves the queue, which is searched for it. While task runs a worker
// stands still for it: one more goroutine, which is parked. Do costs two goroutine switches and
// four allocations.
func (p *Pool) Do(ctx context.Context, task func(ctx context.Context) error) error {
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
	var err error
	// A task of another pool has no place there meanwhile: two that want each other's
	// place would wait forever.
	host.aside(func() { err = v.call(ctx, task) })
	return err
}

// visit is a task that runs elsewhere, while its worker waits.
type visit struct {
	self  listener // refers to the visit itself: what travels through the pool
	pool  *Pool
	state atomic.Uint32 // as a future's
	turn  chan struct{} // of capacity 1: the worker waits for the visitor, or err is set
	over  chan struct{} // closed when the visitor has left
	// The worker that waits for the visitor, set before it is the visitor's turn.
	worker *engine.Worker
	err    error
}

// call calls task when the visitor has its place.
func (v *visit) call(ctx context.Context, task func(context.Context) error) error {
	if err := v.wait(ctx); err != nil {
		return err
	}
	defer v.leave()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return task(&futureContext{ctx, place{v.pool, hostOf(ctx).depth + 1}, &v.state})
}

// wait returns nil when the visitor has its place, which it must leave.
func (v *visit) wait(ctx context.Context) error {
	if err := v.pool.submit(ctx, listenerJob(&v.self, nil, 0)); err != nil {
		return err
	}
	select {
	case <-v.turn:
	case <-ctx.Done():
		if v.state.CompareAndSwap(pending, resolved) {
			v.pool.engine.Discard(v.is) // or a worker has it already, and skips it
			return context.Cause(ctx)
		}
		<-v.turn
	}
	return v.err
}

// is reports whether a job is this visit. It is safe: the pointers are compared, and not followed.
func (v *visit) is(j job) bool { return j.task == unsafe.Pointer(&v.self) }

// leave gives the place back. A context that outlives the visit is not a task's any more.
func (v *visit) leave() {
	v.state.Store(resolved)
	v.worker.Vacate()
	close(v.over)
}

// run lets the visitor in, on a worker.
func (v *visit) run(_ context.Context, w *engine.Worker) error {
	if !v.state.CompareAndSwap(pending, started) {
		v.pool.engine.Skipped()
		return nil
	}
	v.worker = w
	v.turn <- struct{}{}
	<-v.over
	return nil
}

// failed turns the visitor away whose turn never comes.
func (v *visit) failed(failure *TaskError) {
	if v.state.CompareAndSwap(pending, resolved) {
		v.err = failure.Err
		v.turn <- struct{}{}
	}
}
