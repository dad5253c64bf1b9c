package weir

import (
	"context"
	"slices"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// FuncPool runs one function with many arguments on a bounded number of workers: a [Pool] without a closure
// for each task. All methods may be called by any number of goroutines at once.
//
// Arguments that are pointers, functions, maps, channels, strings or interface values are stored in the queue
// itself, and so are those of at most a word without pointers. For others, such as slices and larger structs,
// each call takes some 30 ns more: the pool copies them to the heap, into memory that it uses again until the
// next garbage collection.
type FuncPool[T any] struct {
	core core
	args arguments[T]
	call func(T)
}

// NewFunc returns a pool that calls run with each argument, at most limit at
// once; [Unbounded] sets no limit. It starts nothing, unless [Prestart] is given.
func NewFunc[T any](limit int, run func(T), opts ...Option) *FuncPool[T] {
	must(run != nil, "function must not be nil", "nil")
	both := new(struct { // a field without a name would give it all methods once more, for each T
		pool   FuncPool[T]
		engine engine.Engine
	})
	p := &both.pool
	p.call = run
	p.args.init(false)
	o := poolOptions(limit, opts)
	o.mustHaveNoErrors()
	c := config(&o, (*funcRunner[T])(p))
	if o.expiry > 0 {
		expires(&o, &c, p.expired)
	}
	p.core.prepare(&o)
	p.core.made = caller()
	p.core.start(&o, &c, &both.engine)
	return p
}

// funcRunner runs the function of a FuncPool.
type funcRunner[T any] FuncPool[T]

// Begin implements [engine.Runner].
func (p *funcRunner[T]) Begin(w *engine.Worker) {
	p.core.begins() // first: it numbers the workers, of which the labels tell
	ownLabels(w, nil).give()
}

func (p *funcRunner[T]) pool() any { return (*FuncPool[T])(p) }

// Run implements [engine.Runner].
func (p *funcRunner[T]) Run(_ *engine.Worker, t engine.Task) {
	if race.Enabled {
		(*FuncPool[T])(p).runRaced(p.call, p.args.of(t))
		return
	}
	p.call(p.args.of(t).arg)
	p.args.drop(t)
}

// Broken implements [engine.Runner].
func (p *funcRunner[T]) Broken(_ *engine.Worker, t engine.Task, panicked any) {
	if panicked != nil {
		p.core.reportPanic(p.core.reporter.caughtAt(panicked, p.args.of(t).arg))
	}
}

// expired hands back an argument that was queued for too long.
func (p *FuncPool[T]) expired(_ *engine.Worker, t engine.Task) (tell func()) {
	return p.core.drop(p.args.of(t).arg)
}

// Invoke hands arg to the pool's function. It blocks while the pool is full. It
// returns [ErrClosed] if the pool is closed, or becomes so while it waits, and
// [ErrFull] if as many submitters wait already as [MaxWaiting] allows; the
// function is then never called with arg. A function that invokes its own pool
// should use TryInvoke, or an [Unbounded] queue.
//
// The call synchronizes before the function is called with arg. Once the pool has
// its queue and its workers, it allocates nothing.
func (p *FuncPool[T]) Invoke(arg T) error {
	mustPool(p != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return p.core.invokeRaced(a.Tag, func() error { return p.core.hand(p.args.pack(a)) })
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.hand(t))
}

// InvokeContext is [FuncPool.Invoke] that waits for room only until ctx is done,
// and then returns the context's cause. ctx has no influence on an arg that was
// accepted. If ctx is done beforehand arg is not accepted.
func (p *FuncPool[T]) InvokeContext(ctx context.Context, arg T) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return heard(ctx, p.core.invokeRaced(a.Tag, func() error { return p.core.submit(ctx, p.args.pack(a)) }))
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.submit(ctx, t))
}

// TryInvoke is [FuncPool.Invoke] that never waits: it returns [ErrFull] if the
// pool is full, or if other submitters wait already.
func (p *FuncPool[T]) TryInvoke(arg T) error {
	mustPool(p != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return p.core.invokeRaced(a.Tag, func() error { return p.core.try(p.args.pack(a), nil) })
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.try(t, nil))
}

// Shutdown closes the pool, as [FuncPool.Close] does, but waits only until ctx is done. It returns
// nil if all calls have finished by then, and the workers are gone. Otherwise it removes the
// arguments that no worker has started with and returns them, in order, with a [*ShutdownError]; it
// does not wait for calls that run, which another Close does.
func (p *FuncPool[T]) Shutdown(ctx context.Context) (unrun []T, err error) {
	tasks, err := p.made().shutdown(ctx)
	unrun = slices.Grow(unrun, len(tasks))
	for _, t := range tasks {
		unrun = append(unrun, p.args.of(t).arg)
	}
	return unrun, err
}

// Wait blocks until all calls accepted before it have finished. See [Pool.Wait].
func (p *FuncPool[T]) Wait() { p.made().wait() }

// WaitContext is Wait, but only until ctx is done; then it returns the context's cause.
func (p *FuncPool[T]) WaitContext(ctx context.Context) error { return p.made().waitContext(ctx) }

// Resize sets the limit, and does not block. See [Pool.Resize].
func (p *FuncPool[T]) Resize(limit int) { p.made().resize(limit) }

// Pause stops workers from taking arguments, and does not block. See [Pool.Pause].
func (p *FuncPool[T]) Pause() { p.made().pause() }

// Resume ends a pause.
func (p *FuncPool[T]) Resume() { p.made().resume() }

// Close stops accepting arguments, and blocks until all accepted ones have been dealt with and the last
// worker has ended. See [Pool.Close].
func (p *FuncPool[T]) Close() { p.made().close() }

// Stats returns counts of what the pool has done and is doing. See [Pool.Stats].
func (p *FuncPool[T]) Stats() Stats { return p.made().stats() }

// made returns the core of a pool that is not nil.
func (p *FuncPool[T]) made() *core {
	mustPool(p != nil)
	return &p.core
}
