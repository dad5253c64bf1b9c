package weir

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/keys"
	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/waits"
)

// Once lets calls for the same key at the same time share one task and its value, as when many requests miss
// the same entry of a cache. The tasks run on a pool. All methods may be called by any number of goroutines
// at once. A Once takes memory only for keys that are in use, and for values that it keeps.
type Once[K comparable, V any] struct {
	pool *Pool
	keep time.Duration

	mu    sync.Mutex
	calls keys.Map[K, *onceCall[K, V]] // those under way
	kept  keys.Map[K, *keptValue[V]]
	waits waits.Order // of the tasks under way
}

// A OnceOption sets up a [Once].
type OnceOption struct{ keep time.Duration }

// KeepFor lets a Once keep each value for d after its task has returned it without an error. Meanwhile calls
// for the key get the value at once, unless their contexts are done. The default is 0: a call after the end of the task hands over a new one.
func KeepFor(d time.Duration) OnceOption {
	must(d >= 0, "time to keep must be at least 0", d)
	return OnceOption{d}
}

// NewOnce returns a Once whose tasks run on p.
func NewOnce[K comparable, V any](p *Pool, opts ...OnceOption) *Once[K, V] {
	mustPool(p != nil)
	p.core.running()
	o := &Once[K, V]{pool: p}
	for _, opt := range opts {
		o.keep = opt.keep
	}
	return o
}

// Do returns the value and the error of the task for key. If no task for key is under way, Do hands task to
// the pool, as [Async] does. Otherwise it waits for the one that is, and never calls task. If ctx is done
// first, Do returns its cause, and the task is cancelled if no other caller waits for it.
//
// The context of the task has the values of the context whose call handed it over, but not its end. Groups
// made from it may wait, see promise 9. The package documentation says, under Once, when it is done.
//
// All callers get the same error: a [*Panic] if the task panicked, [ErrGoexit] if it called [runtime.Goexit],
// and [ErrClosed], [ErrFull] or [ErrExpired] if it never ran. A call that would wait for itself gets [ErrRecursive].
//
// The call that hands the task over synchronizes before the start of the task, and the end of the task before
// the return of each call that gets its value.
func (o *Once[K, V]) Do(ctx context.Context, key K, task func(ctx context.Context) (V, error)) (V, error) {
	o.mustBeMade()
	mustContext(ctx != nil)
	mustTask(task != nil)
	var none V
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	in, _ := ctx.Value(lineKey{}).(*line)
	c, begins, kept := o.join(ctx, labelOf(ctx), in, key, task)
	switch {
	case kept != nil:
		return kept.value, nil
	case c == nil:
		return none, ErrRecursive
	}
	defer o.leave(ctx, in, c)
	return c.await(ctx, begins)
}

// join returns the call under way for key, or a new one, and counts the caller as waiting for it; or the
// value that is kept. It returns neither if the caller would wait for itself. It asks ctx for nothing, as a context of the program's
// own may take a lock that the caller of Forget holds.
func (o *Once[K, V]) join(ctx context.Context, l *label, in *line, key K, task func(ctx context.Context) (V, error)) (c *onceCall[K, V], begins bool, kept *keptValue[V]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if kept = o.kept.Get(key); kept != nil {
		return nil, false, kept
	}
	c = o.calls.Get(key)
	by := in.nearest(o)
	switch begins = c == nil; {
	case begins:
		c = o.newCall(ctx, l, in, key, task)
		o.waits.Add(&c.line.Node, by)
		if key == key { //nolint:gocritic // a NaN is not: it could never be removed
			o.calls.Set(key, c)
		}
	case by != nil && !o.waits.Wait(by, &c.line.Node):
		return nil, false, nil
	}
	c.callers++
	return c, begins, nil
}

// Forget makes the next call for key hand over a new task, even if a value is kept or a task is under way.
// Calls that wait for that task still get its value.
func (o *Once[K, V]) Forget(key K) {
	o.mustBeMade()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls.Delete(key)
	if kept := o.kept.Get(key); kept != nil {
		kept.end.Stop()
		o.kept.Delete(key)
	}
}

func (o *Once[K, V]) mustBeMade() {
	must(o != nil && o.pool != nil, "once must be made by NewOnce", "the zero value")
}

// onceCall is a task that calls share. None of them submits it, as the first may be gone before there is room
// for it.
type onceCall[K comparable, V any] struct {
	Future[V]
	of      *Once[K, V]
	key     K
	end     context.CancelCauseFunc // of the context
	link    fifo.Link[errand]       // in the list of the pool's cutoff, while the task runs
	line    line
	callers int // that wait for it, under Once.mu
}

func (o *Once[K, V]) newCall(ctx context.Context, l *label, in *line, key K, task func(ctx context.Context) (V, error)) *onceCall[K, V] {
	c := &onceCall[K, V]{of: o, key: key, line: line{of: o, above: in}}
	c.self, c.pool, c.label, c.done = c, o.pool, l, make(chan struct{})
	values := withoutHost(ctx)
	if outer, ok := values.(*onceContext); ok {
		values = outer.values // it differs in its end and in lineKey
	}
	shared, end := context.WithCancelCause(context.WithoutCancel(values))
	c.ctx, c.end = &onceContext{shared, values, &c.line}, end
	if again, rate := o.pool.core.reporter.retry(); again != nil {
		task = retried(again, false, rates{rate}, task)
	}
	if race.Enabled {
		task = racedFuture(o.pool, task) // last: the task reads the others
	}
	c.body = func(ctx context.Context) (V, error) { return c.runs(ctx, task) }
	return c
}

// submit hands the task over. If it has to wait for room that takes a goroutine of its own.
func (c *onceCall[K, V]) submit() {
	t := listenerJob(&c.self, nil, inTurn).Task
	want := c.want(false)
	if e := c.pool.core.engine; e.OfferFor(t, want) || e.Fits(t, want) { // most often the first, which needs less stack
		return
	}
	go func() {
		if err := c.pool.core.submitWanted(c.ctx, t, want, nil); err != nil {
			c.refuse(err)
		}
	}()
}

// runs runs the task, on its worker.
func (c *onceCall[K, V]) runs(ctx context.Context, task func(ctx context.Context) (V, error)) (value V, err error) {
	c.pool.cut.add(&c.link, &c.errand, nil)
	returned := false
	defer func() {
		c.pool.cut.remove(&c.link)
		c.of.ends(c, value, returned && err == nil)
		c.end(nil)
	}()
	value, err = task(ctx)
	returned = true
	return value, err
}

// cancel implements cancels.
func (c *onceCall[K, V]) cancel(cause error) { c.end(cause) }

// refuse implements listener. No other caller joins then.
func (c *onceCall[K, V]) refuse(err error) bool {
	var none V
	c.of.ends(c, none, false)
	return c.Future.refuse(err)
}

// await waits for the outcome, until ctx is done. If the call begins, await first hands the task over. It
// does so while the place of a calling task is lent, as the new task may need the place.
func (c *onceCall[K, V]) await(ctx context.Context, begins bool) (V, error) {
	if host := hostOf(ctx); host.pool != nil {
		c.awaitInTask(ctx, host, begins)
	} else {
		if begins {
			apart(c.submit)
		}
		c.outcome(nil, nil, ctx.Done())
	}
	return c.settled(ctx)
}

// settled returns the outcome, or the cause of ctx if there is none yet. Like awaitInTask it is no part of await: see [Group.initInTask].
//
//go:noinline
func (c *onceCall[K, V]) settled(ctx context.Context) (V, error) {
	select {
	case <-c.done:
		if unheard := c.unheard.Load(); unheard != nil {
			unheard.Stop()
		}
		return c.value, c.err
	default:
		var none V
		return none, causeOf(ctx)
	}
}

//go:noinline
func (c *onceCall[K, V]) awaitInTask(ctx context.Context, host task, begins bool) {
	host.await(c.pool, c.want(false), func(w *engine.Wakeup) {
		if begins {
			apart(c.submit)
		}
		c.outcome(w, nil, ctx.Done())
	})
}

// leave ends a call that has waited for c. With the last one the task ends, unless it has.
func (o *Once[K, V]) leave(ctx context.Context, in *line, c *onceCall[K, V]) {
	o.mu.Lock()
	if by := in.nearest(o); by != nil {
		by.Leave(&c.line.Node)
	}
	c.callers--
	last := c.callers == 0
	if last && o.calls.Get(c.key) == c {
		o.calls.Delete(c.key)
	}
	o.mu.Unlock()
	if last {
		c.end(causeOf(ctx)) // if the task has not started it never will
	}
}

// ends follows the end of a task, or its refusal. The value is kept if it is good, and that is wanted.
func (o *Once[K, V]) ends(c *onceCall[K, V], value V, good bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls.Get(c.key) != c {
		return // its value is not wanted any more
	}
	o.calls.Delete(c.key)
	if !good || o.keep == 0 {
		return
	}
	key, kept := c.key, &keptValue[V]{value: value}
	kept.end = time.AfterFunc(o.keep, func() { o.drop(key, kept) }) // which keeps c alive no longer
	o.kept.Set(key, kept)
}

// keptValue is a value until its time is over.
type keptValue[V any] struct {
	value V
	end   *time.Timer
}

func (o *Once[K, V]) drop(key K, kept *keptValue[V]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept.Get(key) == kept {
		o.kept.Delete(key)
	}
}

// line is the task of a onceCall, as calls within it see it.
type line struct {
	waits.Node       // under Once.mu
	of         any   // its Once
	above      *line // the task in which the call was that it comes from
}

// lineKey is the key under which a task's context holds its line.
type lineKey struct{}

// onceContext is that of a task, without its host.
type onceContext struct {
	context.Context
	values context.Context // of the call that the task comes from
	line   *line
}

// Value implements [context.Context].
func (c *onceContext) Value(key any) any {
	if key == (lineKey{}) {
		return c.line
	}
	return c.Context.Value(key)
}

// String keeps fmt from reading the line, which other goroutines change meanwhile.
func (c *onceContext) String() string { return fmt.Sprint(c.Context) }

// nearest returns the node of the innermost task of a Once that i is in, or nil.
func (i *line) nearest(of any) *waits.Node {
	for i != nil && i.of != of {
		i = i.above
	}
	if i == nil {
		return nil
	}
	return &i.Node
}
