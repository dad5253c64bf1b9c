package weir

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// Future is the outcome of one task on a [Pool], to be had when it is there. It always
// comes: as what the task returned; as a [*Panic] if the task panicked, or
// [ErrGoexit] if it called [runtime.Goexit]; and if the task never ran, as
// [ErrClosed], [ErrFull], or the cause of the context it was made with.
//
// All methods may be called by any number of goroutines, at any time, and give all
// of them the same.
type Future[T any] struct {
	self listener // refers to the future itself: what travels through the pool
	pool *Pool
	ctx  context.Context
	task func(ctx context.Context) (T, error)

	state    atomic.Uint32
	done     chan struct{} // closed when value and err are final
	value    T
	err      error
	given    futureContext
	watching sync.Once
	unwatch  atomic.Pointer[func() bool] // ends the watch over ctx
}

// The states of a future.
const (
	pending  uint32 = iota // no worker has started the task
	started                // only the end of the task resolves the future
	resolved               // whoever brought this state about sets the outcome
)

// Async hands task to the pool, and returns its future. It blocks while the pool is
// full, until ctx is done. The task gets ctx, and never starts once ctx is done: then
// the future resolves with the cause of ctx. If it has started, only its own end
// resolves the future. A task that was cancelled in the queue keeps its place there
// until a worker comes to it.
//
// A task of a group, or of a future, that waits for a future with the context it got
// gives its place under the limit of its pool up meanwhile, and may make futures
// on its own pool. Panics are not reported to [OnPanic], as Get returns them.
//
// The call synchronizes before the start of the task. It allocates the future and
// its channel.
func Async[T any](ctx context.Context, p *Pool, task func(ctx context.Context) (T, error)) *Future[T] {
	mustContext(ctx != nil)
	must(p != nil, "pool must not be nil", "nil")
	mustTask(task != nil)
	f := &Future[T]{pool: p, ctx: ctx, task: task, done: make(chan struct{})}
	f.self = f
	j := listenerJob(&f.self, nil, 0)
	host := hostOf(ctx)
	if host.pool != nil && ctx.Err() == nil && p.running().Offer(j) {
		return f
	}
	var err error
	host.aside(func() { err = p.submit(ctx, j) })
	if err != nil {
		f.refused(err)
	}
	return f
}

// Get blocks until the future resolves, and returns what the task returned, or why it
// did not. If ctx is done before, Get returns its cause; the task goes on, and Get
// may be called again.
//
// The end of the task synchronizes before the return of Get.
func (f *Future[T]) Get(ctx context.Context) (T, error) {
	f.mustBeMade()
	mustContext(ctx != nil)
	cancelled := f.ctx.Done()
	for {
		select {
		case <-f.done:
			return f.value, f.err
		default:
		}
		gaveUp := false
		hostOf(ctx).aside(func() {
			select {
			case <-f.done:
			case <-cancelled:
				f.abandon()
				cancelled = nil // if the task runs, its end counts
			case <-ctx.Done():
				gaveUp = true
			}
		})
		if gaveUp {
			var none T
			return none, context.Cause(ctx)
		}
	}
}

// Done returns a channel that is closed when the future has resolved: Get then returns
// at once. The end of the task synchronizes before that. A task that waits for the channel
// keeps its place in its pool, while one that waits in Get gives it up.
func (f *Future[T]) Done() <-chan struct{} {
	f.mustBeMade()
	f.watching.Do(f.watch)
	return f.done
}

// watch has the future resolve when its context is done before a worker has started
// the task. Nobody but those who wait for Done needs that: Get looks itself.
func (f *Future[T]) watch() {
	if f.ctx.Done() == nil || f.state.Load() == resolved {
		return
	}
	unwatch := context.AfterFunc(f.ctx, f.abandon)
	f.unwatch.Store(&unwatch)
	if f.state.Load() == resolved { // perhaps before it could see unwatch
		unwatch()
	}
}

// futureContext is what the task of a future gets: it tells who asks for hostKey that
// a task of the pool will wait.
type futureContext struct {
	context.Context
	at    place
	state *atomic.Uint32
}

func (c *futureContext) Value(key any) any {
	if key == (hostKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Aside implements [inside.Task].
func (c *futureContext) Aside() inside.Absence { return c.place().leave() }

func (c *futureContext) place() place {
	if c.state.Load() == resolved {
		return place{}
	}
	return c.at
}

func (f *Future[T]) mustBeMade() {
	must(f.done != nil, "future must be made by Async", "the zero value")
}

// run runs the task, on a worker, unless its context is done.
func (f *Future[T]) run(_ context.Context, w *engine.Worker) error {
	task := f.task
	f.task = nil // the future may live for longer than what the task holds
	if !f.begin() {
		f.pool.engine.Skipped()
		w.Vacate()
		f.abandon() // if nobody has
		return nil
	}
	f.given = futureContext{f.ctx, place{f.pool, hostOf(f.ctx).depth + 1}, &f.state}
	value, err := task(&f.given)
	w.Vacate()
	f.value = value
	f.resolve(err)
	return nil
}

// begin reports whether the task is to run.
func (f *Future[T]) begin() bool {
	return f.ctx.Err() == nil && f.state.CompareAndSwap(pending, started)
}

// failed resolves the future of a task that did not return, or was not run.
func (f *Future[T]) failed(failure *TaskError) { f.refused(failure.Err) }

// refused resolves the future of a task that will not run, or not any further.
func (f *Future[T]) refused(err error) {
	f.task = nil
	f.resolve(err)
}

// abandon resolves the future of a task that no worker has started.
func (f *Future[T]) abandon() {
	if f.state.CompareAndSwap(pending, resolved) {
		f.settle(context.Cause(f.ctx))
	}
}

func (f *Future[T]) resolve(err error) {
	if f.state.Swap(resolved) != resolved {
		f.settle(err)
	}
}

// settle is called once, by who has set the state.
func (f *Future[T]) settle(err error) {
	f.err = err
	close(f.done)
	if unwatch := f.unwatch.Load(); unwatch != nil {
		(*unwatch)()
	}
}
