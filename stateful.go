package weir

import (
	"context"
	"log/slog"
	"time"
	"unsafe"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/values"
)

// Stateful is a [FuncPool] whose every worker owns a value: an encoder, a scratch buffer, a database handle.
// No two calls of its function use the same value at once, and there are never more values than the limit.
// All methods may be called by any number of goroutines at once.
//
// A worker opens its value for its first argument, keeps it from one to the next, and closes it when it ends:
// when it has been idle for the [IdleTimeout], or the pool is resized or closed. After a panic or
// [runtime.Goexit] in the function it closes the value, and opens another for its next argument.
//
// [On] makes it a lane of a pool, on whose workers it runs. Its values stay when these workers go on with
// other work, and the next argument gets the one that was used last. A value is closed, on a goroutine of its
// own, when it was idle for the [IdleTimeout], which other lanes do not take, when a Resize leaves no room
// for it, and at the end.
type Stateful[S, T any] struct {
	core        core
	args        arguments[T]
	values      values.Set[S]
	use         func(S, T)
	onOpenError func(*OpenError)
}

// call is a call of a Stateful's function.
type call[T any] struct {
	argument[T]
	reply *reply // nil if no caller waits for it
}

// NewStateful returns a pool that calls run with a worker's own value and each argument, at most limit at
// once; [Unbounded] sets no limit. It starts nothing, unless [Prestart] is given, and opens nothing before
// arguments come.
//
// open makes a value, and dispose closes it; dispose may be nil. Several workers may call them at once, and
// while a worker opens its value the others go on. A panic in open or dispose, or [runtime.Goexit] in
// dispose, is treated like one in run.
//
// If open fails, by an error or by Goexit, the argument is not used: [Stateful.Call] returns why, and other
// calls leave that to [OnOpenError]. With its next argument the worker tries again.
func NewStateful[S, T any](
	limit int, open func() (S, error), run func(S, T), dispose func(S), opts ...Option,
) *Stateful[S, T] {
	must(open != nil, "function that opens must not be nil", "nil")
	must(run != nil, "function must not be nil", "nil")
	if dispose == nil {
		dispose = func(S) {}
	}
	o := statefulOptions(limit, opts)
	o.mustHaveNoErrors()
	p := &Stateful[S, T]{use: run, onOpenError: o.onOpenError}
	p.args.init(true)
	p.values.Init(limit, open, dispose, &p.core.turns)
	c := config(&o, (*statefulRunner[S, T])(p))
	c.Parked = 0 // values are costly
	if o.expiry > 0 {
		expires(&o, &c, p.expired)
	}
	c.End = p.end
	if o.lane != nil {
		must(o.prestart == 0, "option of a lane must not be about workers, which are those of its pool", "Prestart")
		p.values.KeepFor(o.idleTimeout, p.closeKept)
		c.End = p.endInLane
	}
	p.core.prepare(&o)
	p.core.made = caller()
	p.core.start(&o, &c, new(engine.Engine))
	return p
}

// Invoke hands arg to the pool's function, as [FuncPool.Invoke] does. If the worker can open no
// value for arg, the pool calls the handler of [OnOpenError].
func (p *Stateful[S, T]) Invoke(arg T) error {
	mustPool(p != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return p.core.invokeRaced(a.Tag, func() error { return p.core.hand(p.args.pack(a)) })
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.hand(t))
}

// InvokeContext is [Stateful.Invoke] that waits for room only until ctx is done, and then
// returns the context's cause. ctx has no influence on an arg that was accepted. If ctx is done
// beforehand arg is not accepted.
func (p *Stateful[S, T]) InvokeContext(ctx context.Context, arg T) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return heard(ctx, p.core.invokeRaced(a.Tag, func() error { return p.core.submit(ctx, p.args.pack(a)) }))
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.submit(ctx, t))
}

// TryInvoke is [Stateful.Invoke] that never waits: it returns [ErrFull] if the pool is full, or
// if other submitters wait already.
func (p *Stateful[S, T]) TryInvoke(arg T) error {
	mustPool(p != nil)
	if race.Enabled {
		a := argument[T]{race.Here(), arg}
		return p.core.invokeRaced(a.Tag, func() error { return p.core.try(p.args.pack(a), nil) })
	}
	t := p.args.pack(argument[T]{arg: arg})
	return p.args.keep(t, p.core.try(t, nil))
}

// Call hands arg to the pool's function, waits until the function has returned, and returns nil. It returns
// an [*OpenError] if the worker could not open its value, a [*Panic] if the function panicked, and
// [ErrGoexit] if it called [runtime.Goexit]. Any other error says that arg was not used: [ErrClosed], also if
// the pool is shut down before the turn of arg, [ErrFull] as for Invoke, [ErrExpired], or the cause of ctx if
// that is done first, also while a worker opens its value for arg. Once the function has begun, ctx has no
// influence: when Call has returned, what arg refers to is the caller's again. An arg that was given up keeps
// its room in the queue until a worker comes to it.
//
// A function that calls its own pool keeps its worker meanwhile: if all do so, they wait forever. A task of
// another pool that calls keeps its place there. If the Stateful is a lane of that pool and needs the place,
// both wait forever. The end of the function synchronizes before the return of Call.
func (p *Stateful[S, T]) Call(ctx context.Context, arg T) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	r := &reply{done: make(chan struct{})}
	t := p.args.pack(argument[T]{race.Here(), arg})
	t.Q = unsafe.Pointer(r) // which is safe, as callOf alone reads it
	hostOf(ctx).await(nil, nil, func(w *engine.Wakeup) {
		r.wakeup = w
		done := ctx.Done() // before arg is in the pool: a context of the program's own type may panic
		if err := p.core.submit(ctx, t); err != nil {
			r.err = err
			return
		}
		select {
		case <-r.done:
		case <-done:
			if r.giveUp() {
				r.err = causeOf(ctx)
				return
			}
			<-r.done
		}
	})
	return r.err
}

// callOf is safe: Call alone sets Q.
func (p *Stateful[S, T]) callOf(t engine.Task) call[T] { return call[T]{p.args.of(t), (*reply)(t.Q)} }

// begin reports whether the call has not been given up. From then on its caller waits.
func (c call[T]) begin() bool {
	return c.reply == nil || c.reply.begin(false)
}

func (c call[T]) abandoned() bool { return c.reply != nil && c.reply.over() }

// reply is what Call waits for.
type reply struct {
	progress
	wakeup *engine.Wakeup // of a task that calls
	done   chan struct{}  // closed when err is final, unless the caller has given up
	err    error
}

func (r *reply) resolve(err error) {
	r.err = err
	r.wakeup.Notify()
	r.end()
	close(r.done)
}

// Resize sets the limit, as [Pool.Resize] does. Idle workers beyond it close their values.
func (p *Stateful[S, T]) Resize(limit int) {
	mustPool(p != nil)
	p.core.running()
	(*statefulRunner[S, T])(p).resize(limit)
}

// Shutdown closes the pool, as [Stateful.Close] does, but waits only until ctx is done. It returns
// nil if all calls have finished and all values are closed by then. Otherwise it removes the
// arguments that no worker has started with, and returns them, in order, with a [*ShutdownError]. The
// arguments of Call are not among them: each such Call returns [ErrClosed]. Shutdown does not wait
// for what runs; another Close does.
func (p *Stateful[S, T]) Shutdown(ctx context.Context) (unrun []T, err error) {
	c := p.made()
	mustContext(ctx != nil)
	done := ctx.Done() // before arguments are removed: a context of the program's own type may panic
	tasks, err := c.shutdown(ctx)
	for _, t := range tasks {
		switch c := p.callOf(t); {
		case c.reply == nil:
			unrun = append(unrun, c.arg)
		case c.begin():
			c.reply.resolve(ErrClosed)
		}
	}
	if !p.values.End(done) && err == nil {
		err = &ShutdownError{Cause: causeOf(ctx)}
	}
	return unrun, err
}

// statefulRunner runs the function of a Stateful.
type statefulRunner[S, T any] Stateful[S, T]

// Begin implements [engine.Runner].
func (p *statefulRunner[S, T]) Begin(w *engine.Worker) {
	p.core.begins() // first: it numbers the workers, of which the labels tell
	ownLabels(w, nil).give()
}

func (p *statefulRunner[S, T]) pool() any { return (*Stateful[S, T])(p) }

// resize is that of core, and sets how many values there may be.
func (p *statefulRunner[S, T]) resize(limit int) {
	mustLimit(limit)
	p.values.Resize(limit, p.core.resize)
}

// Run implements [engine.Runner].
func (p *statefulRunner[S, T]) Run(w *engine.Worker, t engine.Task) {
	own := (*Stateful[S, T])(p)
	own.run(w, own.callOf(t))
	own.args.drop(t)
}

// Broken implements [engine.Runner].
func (p *statefulRunner[S, T]) Broken(w *engine.Worker, t engine.Task, panicked any) {
	own := (*Stateful[S, T])(p)
	own.broken(w, own.callOf(t), panicked)
}

// run uses an argument, on worker w.
func (p *Stateful[S, T]) run(w *engine.Worker, c call[T]) {
	own, ok := w.Own.(*values.Value[S])
	if !ok && !c.abandoned() {
		var err error
		w.Own = opening{}
		own, err = p.values.Get(c.Tag)
		if w.Own = nil; err != nil {
			p.core.engine.Untake()
			p.core.engine.HandedBack()
			rest := p.values.Rest()
			if rest == 0 && c.reply != nil {
				w.Vacate()
			}
			p.refuse(c, p.openError(c.arg, err))
			time.Sleep(rest)
			return
		}
		w.Own = own
	}
	if !c.begin() {
		p.core.engine.Untake()
		p.core.engine.HandedBack()
		return
	}
	if race.Enabled {
		p.useRaced(own, c)
	} else {
		p.use(own.State, c.arg)
	}
	if c.reply != nil {
		w.Vacate()
		c.reply.resolve(nil)
	}
}

// expired hands back an argument that was queued for too long.
func (p *Stateful[S, T]) expired(w *engine.Worker, t engine.Task) (tell func()) {
	c := p.callOf(t)
	if c.reply == nil {
		return p.core.drop(c.arg)
	}
	vacate(w)
	if c.begin() {
		c.reply.resolve(ErrExpired)
	}
	return nil
}

func (p *Stateful[S, T]) openError(arg T, err error) *OpenError {
	return &OpenError{Arg: arg, Err: err, Pool: p.core.reporter.name()}
}

func (p *Stateful[S, T]) refuse(c call[T], err *OpenError) {
	switch {
	case c.reply != nil:
		if c.begin() {
			c.reply.resolve(err)
		}
	case p.onOpenError != nil:
		p.core.turns.Begin()
		defer p.core.turns.End()
		p.onOpenError(err)
	default:
		attributes := []any{"error", err.Err}
		if err.Pool != "" {
			attributes = append(attributes, "pool", err.Pool)
		}
		slog.Error("weir: worker could not open its value", attributes...)
	}
}

// opening is what a worker has in place of its value while it opens that.
type opening struct{}

// guard calls a function of the owner, and then done. A panic is reported as that of a task. If it ends the
// program, guard does not call done: no goroutine may learn that the function is over.
func (p *Stateful[S, T]) guard(call, done func()) {
	down := false
	defer func() {
		if !down {
			done()
		}
	}()
	defer func() {
		if panicked := recover(); panicked != nil {
			if down = p.core.engine.Crash; down {
				panic(panicked)
			}
			p.core.report(panicked)
		}
	}()
	call()
}

// broken ends a call that panicked, or called runtime.Goexit. Its value may be half-way
// through something, so it is not used again.
func (p *Stateful[S, T]) broken(w *engine.Worker, c call[T], panicked any) {
	_, opens := w.Own.(opening)
	var caught *Panic
	switch {
	case panicked != nil:
		caught = p.core.reporter.caughtAt(panicked, c.arg) // while the stack stands
	case opens: // the argument is not used
		p.core.engine.Untake()
		p.core.engine.HandedBack()
	}
	defer func() {
		if again := recover(); again != nil {
			panic(again) // no caller may learn of anything while the program ends
		}
		var rest time.Duration
		if opens {
			rest = p.values.Rest()
		}
		switch {
		case c.reply != nil && (c.reply.started() || c.begin()):
			if rest == 0 { // a worker that rests must not seem free: TryInvoke would wait for it
				w.Vacate()
			}
			switch {
			case caught != nil:
				c.reply.resolve(caught)
			case opens:
				c.reply.resolve(p.openError(c.arg, ErrGoexit))
			default:
				c.reply.resolve(ErrGoexit)
			}
		case caught != nil:
			p.core.reportPanic(caught)
		case opens:
			told := make(chan struct{})
			go p.guard(func() { p.refuse(c, p.openError(c.arg, ErrGoexit)) }, func() { close(told) }) // it may exit
			<-told
		}
		time.Sleep(rest)
	}()
	p.end(w)
}

// end closes the value of w, if it has one.
func (p *Stateful[S, T]) end(w *engine.Worker) {
	own, ok := w.Own.(*values.Value[S])
	if !ok {
		return
	}
	w.Own = nil
	p.values.Release()
	p.dispose(own)
}

// dispose closes a value.
func (p *Stateful[S, T]) dispose(own *values.Value[S]) {
	p.guard(func() { p.values.Close(own) }, p.values.Lose)
}

// endInLane is end for a worker of a lane.
func (p *Stateful[S, T]) endInLane(w *engine.Worker) {
	own, ok := w.Own.(*values.Value[S])
	if !ok {
		return
	}
	w.Own = nil
	if !p.values.Keep(own) {
		go p.closeKept(own) // the worker above goes on: it has a place of the pool
	}
}

// useOnce uses an argument that Shutdown of the pool of a lane has handed back.
func (p *Stateful[S, T]) useOnce(arg T) {
	state, err := p.values.Open()
	if err != nil {
		p.refuse(call[T]{argument: argument[T]{arg: arg}}, p.openError(arg, err))
		return
	}
	defer p.values.Dispose(state)
	p.use(state, arg)
}

// closeKept closes a value that no worker has.
func (p *Stateful[S, T]) closeKept(own *values.Value[S]) {
	if h := p.core.reporter.hooks; h != nil {
		h.labels.give()
	} else {
		(*profileLabels)(nil).give()
	}
	p.dispose(own)
}

// Wait blocks until all calls accepted before it have finished. See [Pool.Wait].
func (p *Stateful[S, T]) Wait() { p.made().wait() }

// WaitContext is Wait, but only until ctx is done; then it returns the context's cause.
func (p *Stateful[S, T]) WaitContext(ctx context.Context) error { return p.made().waitContext(ctx) }

// Pause stops workers from taking arguments, and does not block. See [Pool.Pause].
func (p *Stateful[S, T]) Pause() { p.made().pause() }

// Resume ends a pause.
func (p *Stateful[S, T]) Resume() { p.made().resume() }

// Close stops accepting arguments, and blocks until all accepted ones have been dealt with and the last
// worker has ended. See [Pool.Close].
func (p *Stateful[S, T]) Close() {
	p.made().close()
	p.values.End(nil)
}

// Stats returns counts of what the pool has done and is doing. See [Pool.Stats].
func (p *Stateful[S, T]) Stats() Stats { return p.made().stats() }

// made returns the core of a pool that is not nil.
func (p *Stateful[S, T]) made() *core {
	mustPool(p != nil)
	return &p.core
}
