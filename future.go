package weir

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/claim"
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// Future is the outcome of one task on a [Pool], which Get waits for. It always
// comes: as what the task returned; as a [*Panic] if the task panicked, or
// [ErrGoexit] if it called [runtime.Goexit]; and if the task never ran, as
// [ErrClosed], [ErrFull], [ErrExpired], or the cause of the context it was made with.
//
// Any number of goroutines may call all methods, at any time, and get the same
// outcome.
type Future[T any] struct {
	errand
	body     func(ctx context.Context) (T, error)
	value    T
	err      error
	watching sync.Once
	ctxWatch claim.Watch                     // has the task abandoned when ctx is done
	unheard  atomic.Pointer[runtime.Cleanup] // of a panic that Get has not returned
}

// Async hands task to the pool, and returns its future. It blocks while the pool is full, until ctx
// is done; in a task of the pool, or of a lane with the same places, this may last until the future's
// task has ended, so the caller must hold nothing which that task needs.
//
// The task gets ctx, and never starts once ctx is done: the future then resolves with the cause of
// ctx, but not before a worker comes to the task. If it has started, only its own end resolves the
// future. Once the pool is closed, Async refuses the task, also inside a task that the pool accepted
// before.
//
// The call synchronizes before the start of the task. It allocates the future and its channel.
func Async[T any](ctx context.Context, p *Pool, task func(ctx context.Context) (T, error)) *Future[T] {
	mustContext(ctx != nil)
	mustPool(p != nil)
	mustTask(task != nil)
	if again, rate := p.core.reporter.retry(); again != nil {
		task = retried(again, false, rates{rate}, task)
	}
	f := &Future[T]{errand: errand{pool: p, ctx: withoutHost(ctx), label: labelOf(ctx), done: make(chan struct{})}, body: task}
	f.self = f
	if race.Enabled {
		f.body = racedFuture(p, task)
		apart(func() { f.submit(ctx) })
		return f
	}
	f.submit(ctx)
	return f
}

// submit hands the task over.
func (f *Future[T]) submit(ctx context.Context) {
	if err := f.errand.submit(ctx); err != nil {
		f.refuse(err)
	}
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
	var done <-chan struct{} // asked for once: a context of the program's own may have another one for each call
	for {
		select {
		case <-f.done:
			if unheard := f.unheard.Load(); unheard != nil {
				unheard.Stop()
			}
			return f.value, f.err
		default:
		}
		if done == nil {
			done = ctx.Done()
		}
		var came <-chan struct{}
		if host := hostOf(ctx); host.pool != nil {
			came = f.outcomeInTask(host, cancelled, done)
		} else {
			came = f.outcome(nil, cancelled, done)
		}
		switch came {
		case cancelled:
			f.abandon()
			cancelled = nil // if the task runs, its end counts
		case done:
			var none T
			return none, causeOf(ctx)
		}
	}
}

// outcomeInTask is the wait of a task for the future. It is no part of Get: see [Group.initInTask].
//
//go:noinline
func (f *Future[T]) outcomeInTask(host task, cancelled, done <-chan struct{}) (came <-chan struct{}) {
	host.await(f.pool, f.want(true), func(w *engine.Wakeup) { came = f.outcome(w, cancelled, done) })
	return came
}

// Done returns a channel that is closed when the future has resolved: Get then returns
// at once. The end of the task synchronizes before that. A task that waits for the channel
// lends its place to nothing, while one that waits in Get does.
func (f *Future[T]) Done() <-chan struct{} {
	f.mustBeMade()
	f.watching.Do(f.watch)
	return f.done
}

// watch has the future resolve when its context is done before a worker has started
// the task. Only goroutines that wait for Done need that: Get looks itself.
func (f *Future[T]) watch() {
	if f.ctx.Done() == nil || !f.state.Queued() {
		return
	}
	f.ctxWatch.Begin(&f.state, context.AfterFunc(f.ctx, f.abandon))
}

func (f *Future[T]) mustBeMade() {
	must(f.done != nil, "future must be made by Async", "the zero value")
}

// run runs the task, on a worker, unless its context is done.
func (f *Future[T]) run(_ context.Context, w *engine.Worker, number int) error {
	if !f.start(number == claimed, w) {
		return nil
	}
	body := f.body
	f.body = nil // the future may live for longer than what the task holds
	f.worker = w
	value, err := f.call(body)
	w.Vacate()
	f.value = value
	f.resolve(err)
	return nil
}

// call calls the body of the task, on the future's worker.
func (f *Future[T]) call(body func(context.Context) (T, error)) (T, error) {
	ctx := (*errandTask)(&f.errand)
	if l := f.label; l != nil {
		defer l.begin(ctx, f.worker, f.pool.core.reporter.labels()).end()
	}
	return body(ctx)
}

// start reports whether the task is to run. It has begun then.
func (f *Future[T]) start(claimed bool, w *engine.Worker) bool {
	if f.ctx.Err() == nil && f.begin(claimed) {
		f.ctxWatch.End() // the standard library may ask ctx, which may be of a type of the program's own and wait for what calls TrySubmit
		return true
	}
	why := causeOf(f.ctx) // as above, before the worker is free: TrySubmit waits for one that is
	w.Vacate()
	if claimed {
		f.resolve(why)
	} else if f.giveUp() { // else another goroutine has
		f.announce(why)
	}
	if f.dropped(claimed) {
		f.body = nil
	}
	return false
}

// failed resolves the future of a task that did not return, or was not run.
func (f *Future[T]) failed(failure *TaskError) {
	if p, ok := failure.Err.(*Panic); ok { //nolint:errorlint // one that is wrapped is another's
		p.Label = f.label.of()
		reporter := &f.pool.core.reporter // and not f, which would never become garbage
		unheard := runtime.AddCleanup(f, func(p *Panic) { go reporter.report(p) }, p)
		f.unheard.Store(&unheard)
	}
	if f.started() || !f.refuse(failure.Err) {
		f.resolve(failure.Err) // also if it has not begun, as its context panicked
	}
}

// refuse implements listener.
func (f *Future[T]) refuse(err error) bool {
	if !f.giveUp() {
		return false
	}
	f.body = nil
	f.announce(err)
	return true
}

// abandon resolves the future of a task that no worker has started.
func (f *Future[T]) abandon() {
	if f.giveUp() {
		f.announce(causeOf(f.ctx))
	}
}

func (f *Future[T]) resolve(err error) {
	if f.end() {
		f.announce(err)
	}
}

// announce is called once, by the goroutine that has set the state.
func (f *Future[T]) announce(err error) {
	f.err = err
	f.tasks.Notify()
	close(f.done)
	f.ctxWatch.End()
}
