package weir

import (
	"context"
	"slices"
	"unsafe"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// Pool runs functions on a bounded number of workers. It is made to live long
// and to be shared: all methods may be called by any number of goroutines at
// once. Workers start with the first tasks, are reused, and end when they
// have been idle for the [IdleTimeout].
//
// A pool that is no longer used need not be closed: it holds no goroutine once
// its workers have expired. Close it to know that its tasks are done, and in a
// [testing/synctest] bubble, which ends only when its goroutines have.
type Pool struct {
	originals race.Map // of tasks, as Submit was given them; for Shutdown
	core      core
	cut       *cutoff // of tasks of Go; nil for the pool of a group
}

// job is what travels through the engine of a Pool: a plain task, or a group's if
// batch is set; either may be a listener instead of a function.
//
// P is a func(); or, with a batch, a func(context.Context) error; or a *listener. Q is the *batch. N is the number of a group's task; of a
// listener, its complement, which is negative.
//
// The pointers are safe: only the makers below write them, Q and N say which of the
// three P is, and the collector sees a pointer, as it does in a func value.
type job struct{ engine.Task }

// listener is a task that learns how it ended: a future's, or one of Results.
type listener interface {
	// run runs the task, on worker w. Without a batch the context and the error are none, and
	// it vacates w before any goroutine learns that the task is over.
	// number is that of its job.
	run(ctx context.Context, w *engine.Worker, number int) error
	// void reports whether the job in the queue is void, as the task has started out of turn, or was given up.
	void() bool
	// refuse ends a task that Shutdown has taken off the queue. It reports false if another goroutine has ended it.
	refuse(err error) bool
	// failed learns why the task has failed: by the error that run returned, by
	// a panic or runtime.Goexit in run, or since the pool refused it or handed it
	// back. It is called at most once, and not for a panic that comes out of
	// Group.Wait, nor for a task that its cancelled group has discarded.
	failed(failure *TaskError)
}

// A function is one pointer, which is what makes the conversions below safe. Where it is not,
// this does not compile.
var _ = [1]int{}[unsafe.Sizeof((func())(nil))-unsafe.Sizeof(unsafe.Pointer(nil))]

// plainJob is safe as plain undoes it: the same bits are read as the type they were written as.
func plainJob(run func()) job { return job{engine.Task{P: *(*unsafe.Pointer)(unsafe.Pointer(&run))}} }

// memberJob is safe as member undoes it.
func memberJob(run func(context.Context) error, b *batch, index int) job {
	return job{engine.Task{P: *(*unsafe.Pointer)(unsafe.Pointer(&run)), Q: unsafe.Pointer(b), N: index}}
}

// listenerJob is safe as listener undoes it.
func listenerJob(l *listener, b *batch, number int) job {
	return job{engine.Task{P: unsafe.Pointer(l), Q: unsafe.Pointer(b), N: ^number}}
}

// batch is that of a group's task; else nil.
func (j job) batch() *batch { return (*batch)(j.Q) }

func (j job) listens() bool { return j.N < 0 }

func (j job) listener() listener { return *(*listener)(j.P) }

// number is the number of a group's task.
func (j job) number() int {
	if j.listens() {
		return ^j.N
	}
	return j.N
}

// call runs a group's task.
func (j job) call(ctx context.Context, w *engine.Worker) error {
	if j.listens() {
		return j.listener().run(ctx, w, j.number())
	}
	return j.member()(ctx)
}

// plain is safe for a job without a batch that does not listen: plainJob has made it.
func (j job) plain() func() { return *(*func())(unsafe.Pointer(&j.P)) }

// member is safe for a job with a batch that does not listen: memberJob has made it.
func (j job) member() func(context.Context) error {
	return *(*func(context.Context) error)(unsafe.Pointer(&j.P))
}

// New returns a pool on which at most limit tasks run at once; [Unbounded] sets
// no limit. It starts nothing, unless [Prestart] is given.
func New(limit int, opts ...Option) *Pool { return newPool(limit, opts, caller(), nil) }

// newPool returns a pool that was made at the given place, and is known as another one, unless of is nil.
func newPool(limit int, opts []Option, made uintptr, of any) *Pool {
	o := poolOptions(limit, opts)
	return o.newPool(made, of)
}

func (o *options) newPool(made uintptr, of any) *Pool {
	p := new(struct {
		Pool
		engine engine.Engine
		cut    cutoff
	})
	p.Pool.cut = &p.cut
	p.cut.of = of
	p.core.prepare(o)
	p.core.made = made
	p.start(o, &p.engine)
	return &p.Pool
}

// start makes the pool run on e, which is the zero value.
func (p *Pool) start(o *options, e *engine.Engine) {
	c := config(o, engine.Runner((*runner)(p)))
	c.Void, c.Ticket, c.Counted = isVoid, ticket, isCounted
	if o.expiry > 0 { // a method value takes an allocation
		expires(o, &c, p.expired)
	}
	p.core.start(o, &c, e)
}

// runner runs the tasks of a Pool.
type runner Pool

// Begin implements [engine.Runner].
func (p *runner) Begin(w *engine.Worker) {
	p.core.begins() // first: it numbers the workers, of which the labels tell
	ownLabels(w, nil).give()
}

func (p *runner) pool() any {
	if c := p.cut; c != nil && c.of != nil {
		return c.of
	}
	return (*Pool)(p)
}

// isVoid reports whether a worker need not come to the job t, which is queued.
func isVoid(t engine.Task) bool {
	j, b := job{t}, job{t}.batch()
	switch {
	case b != nil:
		if b.subtasks == nil {
			return b.tally.Closed()
		}
		return j.isTicket() && !b.subtasks.Holds(j.isFor())
	case j.listens():
		return j.number() != claimed && j.listener().void()
	default:
		return j.P == nil
	}
}

// isCounted reports whether the void job t, which has left the queue, was counted, or will be.
func isCounted(t engine.Task) bool {
	b := job{t}.batch()
	return b == nil || b.isCounted()
}

// Run implements [engine.Runner].
func (*runner) Run(w *engine.Worker, t engine.Task) {
	j := job{t}
	switch {
	case j.Q != nil:
		j.batch().run(w, j)
	case j.listens():
		w.Report()
		if w.Tenant.Load() != nil {
			leaveGroup(w)
		}
		_ = j.listener().run(context.Background(), w, j.number()) // has a context, and a place for the error, of its own
	default:
		w.Report()
		if w.Tenant.Load() != nil {
			leaveGroup(w)
		}
		j.plain()()
	}
}

// Broken implements [engine.Runner].
func (p *runner) Broken(w *engine.Worker, t engine.Task, panicked any) {
	j := job{t}
	switch {
	case j.Q != nil:
		j.batch().broken(w, j, panicked)
	case j.listens():
		var caught *Panic
		failure := &TaskError{Err: ErrGoexit}
		if panicked != nil {
			caught = p.core.reporter.caught(panicked)
			failure.Err = caught
		}
		l := j.listener()
		defer l.failed(failure) // also if a handler exits
		defer w.Vacate()
		if t, ok := l.(goes); ok {
			t.inner().broken(caught)
		}
	default:
		p.core.report(panicked)
	}
}

// Submit hands task to the pool. It blocks while the pool is full. It returns
// [ErrClosed] if the pool is closed, or becomes so while it waits, and
// [ErrFull] if as many submitters wait already as [MaxWaiting] allows; the task
// then never runs. A task that submits to its own pool should use TrySubmit,
// or an [Unbounded] queue: if all workers wait for room in their own queue,
// no worker makes any. The task gets no context, so it must not wait for a group or a future of
// its own pool. Tasks of a [Group], of a [Future] and of [Pool.Do] may.
//
// The call synchronizes before the start of the task. Once the pool has its queue
// and its workers, it allocates nothing.
func (p *Pool) Submit(task func()) error {
	mustPool(p != nil)
	mustTask(task != nil)
	if race.Enabled {
		return p.submitRaced(task, func(j job) error { return p.core.hand(j.Task) })
	}
	return p.core.hand(plainJob(task).Task)
}

// SubmitContext is [Pool.Submit] that waits for room only until ctx is done, and
// then returns the context's cause. ctx has no influence on a task that was
// accepted. If ctx is done beforehand the task is not accepted.
func (p *Pool) SubmitContext(ctx context.Context, task func()) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	mustTask(task != nil)
	if race.Enabled {
		return heard(ctx, p.submitRaced(task, func(j job) error { return p.core.submit(ctx, j.Task) }))
	}
	return p.core.submit(ctx, plainJob(task).Task)
}

// TrySubmit is [Pool.Submit] that never waits: it returns [ErrFull] if the pool
// is full, or if other submitters wait already.
func (p *Pool) TrySubmit(task func()) error {
	mustPool(p != nil)
	mustTask(task != nil)
	if race.Enabled {
		return p.submitRaced(task, func(j job) error { return p.core.try(j.Task, nil) })
	}
	return p.core.try(plainJob(task).Task, nil)
}

// expired hands back a task that was queued for too long. For a task without a waiting caller it returns a
// function that calls the handler.
func (p *Pool) expired(w *engine.Worker, t engine.Task) (tell func()) {
	j := job{t}
	if w != nil { // as before any task that is of no group
		w.Report()
		if w.Tenant.Load() != nil {
			leaveGroup(w)
		}
	}
	superseded := false
	switch {
	case j.Q != nil:
		vacate(w)
		superseded = !j.batch().handBack(j, ErrExpired)
	case !j.listens() && race.Enabled:
		return p.core.drop(p.original(j))
	case !j.listens():
		return p.core.drop(j.plain())
	default:
		l := j.listener()
		if t, ok := l.(goes); ok {
			if t.inner().giveUp() {
				return t.lost(ErrExpired)
			}
		} else {
			vacate(w)
			if l.refuse(ErrExpired) {
				return nil
			}
		}
		superseded = l.void()
	}
	if superseded {
		p.core.engine.Superseded(j.Task)
	}
	return nil
}

// Shutdown closes the pool, as [Pool.Close] does, but waits only until ctx is done. If all tasks have
// finished by then, and the workers have ended, also idle ones, it returns nil. Otherwise it removes the tasks that no worker
// has started, and returns them in order, with a [*ShutdownError]. It does not wait for the tasks that run;
// another Close does. In either case it also returns the tasks of [Pool.After] and [Pool.At] that are not
// due.
//
// Tasks of a [Group], of a [Future] and of [Pool.Go] are not returned: they fail with [ErrClosed]. Shutdown
// returns after it has called the function of [OnError] for those of Go. When ctx is done, Shutdown also
// cancels the contexts of the tasks that run, and so their groups, with the cause ErrClosed. It does not
// cancel those of [Async] and [Pool.Do], which are their callers' own.
func (p *Pool) Shutdown(ctx context.Context) (unrun []func(), err error) {
	mustPool(p != nil)
	unrun, tells, err := p.shutdown(ctx, goes.lost)
	p.core.reporter.asideEach(tells)
	return unrun, err
}

// shutdown is Shutdown. It calls lost for each task of Go that has left the queue of the pool. It returns the
// functions that lost returned, and those of the lanes. As they call handlers, which may block, the caller
// calls them after all other tasks have ended.
func (p *Pool) shutdown(ctx context.Context, lost func(t goes, cause error) (tell func())) (unrun, tells []func(), err error) {
	mustContext(ctx != nil)
	p.core.running()
	p.core.mustBeOwn()
	undue, told := p.endTimers(nil)
	tasks, err := p.core.shutdown(ctx)
	var refused []job
	unrun = slices.Grow(unrun, len(tasks))
	for _, t := range tasks {
		j := job{t}
		switch {
		case j.Q != nil:
			if !j.batch().handBack(j, ErrClosed) {
				p.core.engine.Superseded(j.Task)
			}
		case j.listens():
			refused = append(refused, j)
		case race.Enabled:
			unrun = append(unrun, p.original(j))
		default:
			unrun = append(unrun, j.plain())
		}
	}
	if err != nil {
		p.cutTasks() // before a handler is called that may block
	}
	theirs, tells := p.core.takeBackLanes(ctx, err)
	unrun = append(unrun, theirs...)
	if len(told) > 0 {
		tells = append(tells, func() { awaitAll(told, ctx.Done()) })
	}
	for _, x := range undue {
		unrun = append(unrun, func() { x.task(context.Background()) })
	}
	for _, j := range refused {
		l := j.listener()
		t, isGo := l.(goes)
		switch {
		case isGo && t.inner().giveUp():
			tells = append(tells, lost(t, ErrClosed))
		case (isGo || !l.refuse(ErrClosed)) && l.void():
			p.core.engine.Superseded(j.Task)
		}
	}
	return unrun, tells, err
}
