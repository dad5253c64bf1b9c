package weir

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Unbounded, as a limit or as the length of a queue, means no bound.
const Unbounded = math.MaxInt

const (
	// A queue longer than defaultQueue made no program faster. Tiny tasks need only
	// 256; the rest is for many workers whose tasks wait, which would park
	// whenever the one submitter does not run for long.
	defaultQueue = 4096

	defaultIdleTimeout = 10 * time.Second
	defaultParked      = 64

	// So many workers in a row say that tasks block.
	defaultBlocked = 8
)

// An Option sets up a [Pool], a [FuncPool], a [FuncContext], a [Stateful], or a [Group] with workers of its own.
type Option interface{ apply(*options) }

// A GroupOption sets up a [Group], on a pool or with workers of its own. New,
// NewFunc and their like panic when given [Limit], [KeepGoing] or [PanicsAsErrors].
type GroupOption interface {
	Option
	groupOption() string
}

type options struct {
	limit       int
	queue       int
	maxWaiting  int
	idleTimeout time.Duration
	parked      int32 // of the engine
	measure     float32
	prestart    int
	expiry      time.Duration  // 0 for none
	labels      *profileLabels // of the pool's name; nil without
	handlers    *handlers      // nil for none
	onOpenError func(*OpenError)
	lane        *laneOptions // nil for a pool that is none
	crash       bool
	ofWorkers   bool // an option was given that a lane does not take

	groupOptions
}

// groupOptions are the part of the options that a group looks at.
type groupOptions struct {
	members        int // the group's own limit; 0 for none
	keepGoing      bool
	panicsAsErrors bool
	rate           *RateLimit // nil for none
	retry          *Retrier   // nil for none
}

type poolOption func(*options)

func (set poolOption) apply(o *options) { set(o) }

type groupOption struct {
	name string
	set  func(*options)
}

func (g groupOption) apply(o *options)    { g.set(o) }
func (g groupOption) groupOption() string { return g.name }

// Queue sets how many accepted tasks may wait for a worker; the default is 4096.
// [Unbounded] lets the queue grow with what is submitted; the memory is given
// back when the tasks have run. Queue(0) is a hand-over: a task is accepted
// only when a worker is free to take it.
//
// A short queue makes submitters wait early, which bounds memory and delay; below
// about 256 it also makes tasks of less than a microsecond slower.
func Queue(n int) Option {
	must(n >= 0, "queue must be at least 0", n)
	return poolOption(func(o *options) { o.queue = n })
}

// MaxWaiting sets how many submitters may wait for room at once; any more get [ErrFull]. By default there is
// no bound. A wait for the [Limit] of a group does not count. After a task has ended, its worker is busy for
// a moment, until it takes the next one. So with MaxWaiting(0) and no room in the queue, a submission made
// because a task has ended may still get ErrFull.
func MaxWaiting(n int) Option {
	must(n >= 0, "waiting submitters must be at least 0", n)
	return poolOption(func(o *options) { o.maxWaiting = n })
}

// IdleTimeout sets after how long an idle worker ends. Those that have been idle for longest end first, and
// the others are kept for reuse. With 0 a worker ends as soon as there is nothing for it to do.
//
// Without this option an idle worker ends after 10 s. A worker that has only run one of many tasks that came
// at once ends at once, unless at most 64 are idle, or as many as [Prestart] says; but not in a [Stateful].
func IdleTimeout(d time.Duration) Option {
	must(d >= 0, "idle timeout must be at least 0", d)
	return poolOption(func(o *options) { o.idleTimeout, o.parked, o.ofWorkers = d, 0, true })
}

// ExpireAfter sets how long a task may be queued. A task that was queued for longer does not start: it is
// handed back with [ErrExpired], which [Group.Wait], [Future.Get], [Pool.Do] and [Stateful.Call] return. For
// any other task [OnError] gets a [*DroppedError]. The pool finds an expired task when a worker comes to it,
// or at most some milliseconds late, except while a thousand errors wait for a slow handler. A pause of the
// pool does not stop the clock. Waiting for room does not count, and subtasks do not expire. A task that
// another one waits for may still start out of turn.
//
// Each task is measured, as with [Measure] of 1, which takes some 0.3 µs.
func ExpireAfter(d time.Duration) Option {
	must(d > 0, "time in the queue must be more than 0", d)
	return poolOption(func(o *options) { o.expiry = d })
}

// Prestart starts n workers at once, instead of with the first tasks; n must not
// exceed the limit. They expire like others.
func Prestart(n int) Option {
	must(n >= 0, "prestarted workers must be at least 0", n)
	return poolOption(func(o *options) { o.prestart, o.ofWorkers = n, true })
}

// Name names the pool in reports of panics and in profiles, as the value of the label "weir" on its workers.
// A worker gets the label again before each task, since the task before may have changed its labels; that
// costs some 6 ns a task.
func Name(name string) Option {
	return poolOption(func(o *options) {
		o.labels = nil
		if name != "" {
			o.labels = newProfileLabels(name)
		}
	})
}

// OnPanic sets the function that is called with the panic of a task, on the goroutine that panicked
// and before the task counts as finished. The default logs value and stack with [log/slog.Error].
// The handler may be called by several workers at once. If it panics itself, both panics are
// logged. Panics of a [Group]'s tasks come out of its Wait instead; only those of a batch after the
// first are passed to the handler. With [PanicsAsErrors] none is: they are errors then. The panic
// of a [Future] that is dropped without a Get is passed to the handler by a goroutine of its own,
// once the garbage collector has found the future.
func OnPanic(handle func(*Panic)) Option {
	must(handle != nil, "panic handler must not be nil", "nil")
	return handlerOption(func(h *handlers) { h.onPanic = handle })
}

// OnError sets the function that gets the errors of tasks of [Pool.Go]. The pool calls handle on the worker,
// as a part of the task. For a task that never started it calls handle with a [*DroppedError], on another
// goroutine. With [ExpireAfter] it does so for tasks of [Pool.Submit] and for arguments, too; [NewFunc] and
// [NewStateful] take OnError only then. The default logs the error with [log/slog.Error].
//
// Several goroutines may call handle at once. If it panics, the panic and the error are logged. handle must
// not wait for room in its pool, which may come only when handle's own worker is free: see [Pool.TrySubmit].
// Nor may it wait for Wait, Close or Shutdown of the pool, which wait for handle, or for a goroutine that
// calls one of them.
func OnError(handle func(error)) Option {
	must(handle != nil, "handler of errors must not be nil", "nil")
	return handlerOption(func(h *handlers) { h.onError = handle })
}

// CrashOnPanic lets the panic of a task end the program, as it would in a plain
// goroutine. It holds for the tasks of groups on the pool, too: [OnPanic] and
// [PanicsAsErrors] have no effect then.
func CrashOnPanic() Option {
	return poolOption(func(o *options) { o.crash = true })
}

// OnOpenError sets the function that is called for each argument given to [Stateful.Invoke] and its
// like that was accepted and not used, since the worker that took it could not open its value. The
// default logs the error with [log/slog.Error]. The handler may be called by several workers at
// once; its own panics are treated as those of tasks. To hand the argument to the pool again it
// should use TryInvoke: Invoke may wait for room that only this worker could make. Only
// [NewStateful] takes this option.
func OnOpenError(handle func(*OpenError)) Option {
	must(handle != nil, "handler of errors must not be nil", "nil")
	return poolOption(func(o *options) { o.onOpenError = handle })
}

// Limit sets how many tasks of the group run at once, at most. Go waits until
// fewer than that are queued or running.
func Limit(n int) GroupOption {
	mustLimit(n)
	return groupOption{"Limit", func(o *options) { o.members = n }}
}

// KeepGoing lets the other tasks of a group go on when one fails: nothing is cancelled, and Wait returns all
// errors, joined in the order of submission. A panic still cancels the group, unless [PanicsAsErrors] is set.
func KeepGoing() GroupOption {
	return groupOption{"KeepGoing", func(o *options) { o.keepGoing = true }}
}

// PanicsAsErrors makes a panic in a task of the group an error like others, a
// [*Panic], instead of a panic in Wait.
func PanicsAsErrors() GroupOption {
	return groupOption{"PanicsAsErrors", func(o *options) { o.panicsAsErrors = true }}
}

// groupWorkersOptions checks and collects the options of NewGroup.
func groupWorkersOptions(limit int, opts []Option) options {
	o := newOptions(limit)
	collect(&o, opts)
	o.mustHaveNoState()
	o.mustHaveNoHandlerOfErrors()
	o.mustHaveNoLane()
	return o
}

func newOptions(limit int) options {
	mustLimit(limit)
	return options{
		limit:       limit,
		queue:       defaultQueue,
		maxWaiting:  math.MaxInt,
		idleTimeout: defaultIdleTimeout,
		parked:      defaultParked,
	}
}

// poolOptions checks and collects the options of New and NewFunc.
func poolOptions(limit int, opts []Option) options {
	o := statefulOptions(limit, opts)
	o.mustHaveNoState()
	must(o.lane == nil || !o.ofWorkers, "options of a lane must not be about workers, which are those of its pool", "IdleTimeout or Prestart")
	return o
}

// mustHaveNoErrors is for tasks that return none.
func (o *options) mustHaveNoErrors() {
	must(o.retry == nil, "option must fit a pool whose tasks return no errors", "Retry")
	o.mustHaveNoHandlerOfErrors()
}

// mustHaveNoHandlerOfErrors is for tasks whose errors have another way.
func (o *options) mustHaveNoHandlerOfErrors() {
	must(o.handlers == nil || o.handlers.onError == nil || o.expiry > 0, "option must fit a pool that hands the errors of its tasks to a function", "OnError")
}

func (o *options) mustHaveNoState() {
	must(o.onOpenError == nil, "option must fit a pool whose workers have no values", "OnOpenError")
}

// statefulOptions checks and collects the options of a pool that is not a group's.
func statefulOptions(limit int, opts []Option) options {
	for _, opt := range opts {
		if g, ok := opt.(GroupOption); ok && g.groupOption() != ofAll {
			must(false, "option of a pool must not be a group's", g.groupOption())
		}
	}
	o := newOptions(limit)
	o.measure = defaultMeasure
	collect(&o, opts)
	o.mustBeLane()
	return o
}

func collect[O Option](o *options, opts []O) {
	for _, opt := range opts {
		must(any(opt) != nil, "option must not be nil", "nil")
		opt.apply(o)
	}
	if o.parked > 0 {
		o.parked = max(o.parked, int32(min(o.prestart, math.MaxInt32)))
	}
	if o.prestart > o.limit {
		must(false, fmt.Sprintf("prestarted workers must be at most the limit %d", o.limit), o.prestart)
	}
}

func groupOptionsOf(opts []GroupOption) groupOptions {
	var o options
	collect(&o, opts)
	return o.groupOptions
}

// config is the engine's part of the options, for tasks that runner runs.
func config(o *options, runner engine.Runner) engine.Config {
	if o.labels != nil {
		runner = &named{runner, o.labels}
	}
	return engine.Config{
		Runner:      runner,
		Limit:       o.limit,
		Queue:       o.queue,
		MaxWaiting:  o.maxWaiting,
		IdleTimeout: o.idleTimeout,
		Parked:      o.parked,
		Blocked:     defaultBlocked,
		AtOnce:      int32(runtime.GOMAXPROCS(0)),
		Crash:       o.crash,
		Measure:     o.measure,
	}
}

// expires makes tasks expire.
func expires(o *options, c *engine.Config, expired func(w *engine.Worker, task engine.Task) (tell func())) {
	c.Measure, c.Expiry = 1, &engine.Expiry{After: o.expiry, Expired: expired}
}

// named is the runner of a pool that has a name: it gives its label to the workers.
type named struct {
	engine.Runner
	labels *profileLabels
}

// unwrap returns the runner without its name.
func unwrap(r engine.Runner) engine.Runner {
	if n, ok := r.(*named); ok {
		return n.Runner
	}
	return r
}

// Begin implements [engine.Runner].
func (n *named) Begin(w *engine.Worker) {
	n.Runner.Begin(w)
	ownLabels(w, n.labels).give()
}

// Run implements [engine.Runner].
func (n *named) Run(w *engine.Worker, task engine.Task) {
	ownLabels(w, n.labels).give() // the task before may have left its own labels
	n.Runner.Run(w, task)
}
