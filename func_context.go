package weir

import (
	"context"
	"time"
)

// FuncContext runs one function with many arguments and their contexts: what [Pool.Go] is for functions. It
// is for services, where no call waits for the calls of the function. All methods may be called by any number
// of goroutines at once.
type FuncContext[T any] struct {
	pool *Pool
	call func(context.Context, T) error
}

// NewFuncContext returns a pool that calls run with each argument, at most limit at once; [Unbounded] sets no
// limit. It starts nothing, unless [Prestart] is given. An error that run returns goes to the function that
// [OnError] sets.
func NewFuncContext[T any](limit int, run func(ctx context.Context, arg T) error, opts ...Option) *FuncContext[T] {
	must(run != nil, "function must not be nil", "nil")
	p := &FuncContext[T]{call: run}
	p.pool = newPool(limit, opts, caller(), p)
	return p
}

// argued is a call of the function of a FuncContext.
type argued[T any] struct {
	goTask
	of  *FuncContext[T]
	arg T
}

var _ goes = (*argued[any])(nil)

func (a *argued[T]) argument() any { return a.arg }

func (a *argued[T]) do(ctx context.Context) error {
	call := func(ctx context.Context) error { return a.of.call(ctx, a.arg) }
	if again, rate := a.of.pool.core.reporter.retry(); again != nil {
		return again.passOn(again.do(ctx, call, tries{rates: rates{rate}, pass: passPlaceless}))
	}
	return call(ctx)
}

func (a *argued[T]) letGo() {
	var none T
	a.arg = none
}

// Go hands arg to the pool's function, with its context, as [Pool.Go] does a task. It blocks while the pool
// is full, until ctx is done. In a call of the function, or in a task of a lane with the same places, it may
// block until the call for arg has ended. It returns nil if arg was accepted. Otherwise the function is never
// called with arg, and the error is [ErrClosed], [ErrFull] as for [Pool.Submit], or the cause of ctx.
//
// If ctx is done before the function is called with an accepted arg, a [*DroppedError] with arg goes to
// [OnError]. A panic goes to [OnPanic]. The context that the function gets is the same as for [Pool.Go].
//
// The call synchronizes before the function is called with arg.
func (p *FuncContext[T]) Go(ctx context.Context, arg T) error {
	pool := p.made()
	mustContext(ctx != nil)
	a := &argued[T]{goTask: goTask{errand: errand{pool: pool, ctx: ctx, label: labelOf(ctx)}}, of: p, arg: arg}
	a.self = a
	return a.hand()
}

// Shutdown closes the pool, as [FuncContext.Close] does, but waits only until ctx is done. If all calls have
// finished by then, and the workers have ended, it returns nil. Otherwise it removes the arguments that no
// worker has started with, and returns them in order, with a [*ShutdownError]. It cancels the contexts of
// calls that run, with the cause [ErrClosed], and does not wait for them; another Close does.
func (p *FuncContext[T]) Shutdown(ctx context.Context) (unrun []T, err error) {
	pool := p.made()
	_, tells, err := pool.shutdown(ctx, func(t goes, cause error) (tell func()) {
		a, ok := t.(*argued[T])
		if !ok { // made from the context of a call
			return t.lost(cause)
		}
		unrun = append(unrun, a.arg)
		a.letGo()
		return a.announce
	})
	pool.core.reporter.asideEach(tells)
	return unrun, err
}

// Wait blocks until all calls accepted before it have finished. See [Pool.Wait].
func (p *FuncContext[T]) Wait() { p.made().Wait() }

// WaitContext is Wait, but only until ctx is done; then it returns the context's cause.
func (p *FuncContext[T]) WaitContext(ctx context.Context) error { return p.made().WaitContext(ctx) }

// Resize sets the limit, and does not block. See [Pool.Resize].
func (p *FuncContext[T]) Resize(limit int) { p.made().Resize(limit) }

// Pause stops workers from taking arguments, and does not block. See [Pool.Pause].
func (p *FuncContext[T]) Pause() { p.made().Pause() }

// Resume ends a pause.
func (p *FuncContext[T]) Resume() { p.made().Resume() }

// Close stops accepting arguments, and blocks until all accepted ones have been dealt with and the last
// worker has ended. See [Pool.Close].
func (p *FuncContext[T]) Close() { p.made().Close() }

// Stats returns counts of what the pool has done and is doing. See [Pool.Stats].
func (p *FuncContext[T]) Stats() Stats { return p.made().Stats() }

// Times returns how long calls have waited and run. See [Pool.Times].
func (p *FuncContext[T]) Times() Times { return p.made().Times() }

// Running lists the calls that have run for so long. See [Pool.Running].
func (p *FuncContext[T]) Running(longer time.Duration) []Running { return p.made().Running(longer) }

// made returns the pool of one that was made by NewFuncContext.
func (p *FuncContext[T]) made() *Pool {
	mustPool(p != nil)
	must(p.pool != nil, "pool must be made by NewFuncContext", "the zero value")
	return p.pool
}
