package weir

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Hedge returns the value of the first of calls that succeeds. It starts calls[0] on p, and each of the
// others when the latest one has run for the time after, or at that time after p refused it, or when all
// started ones have failed. It then cancels the contexts of the remaining calls, and does not wait for them:
// a call that ignores its context keeps its place until it ends. If after is the 95th percentile of the time
// that a call takes, see [Pool.Times], one call in twenty is made twice. (Jeffrey Dean and Luiz Barroso, "The
// Tail at Scale", 2013.)
//
// The contexts of the calls are made from ctx. If all calls fail, Hedge returns their errors in order, as
// [errors.Join] does; if ctx ends first, the cause of ctx. The package documentation describes, under Hedged
// calls, which errors these are, and what becomes of panics.
//
// A task that calls Hedge lends its place to the calls until Hedge returns, as a task in [Future.Get] does. The
// end of the call that succeeded synchronizes before the return of Hedge.
func Hedge[T any](ctx context.Context, p *Pool, after time.Duration, calls ...func(ctx context.Context) (T, error)) (T, error) {
	mustContext(ctx != nil)
	mustPool(p != nil)
	must(after >= 0, "time after which the next call is made must be at least 0", after)
	must(len(calls) > 0, "there must be a call", "none")
	for _, call := range calls {
		mustTask(call != nil)
	}
	p.core.running()
	h := &hedge[T]{pool: p, calls: calls, after: after, events: make(chan hedged[T], len(calls)), errs: make([]error, len(calls))}
	e := h.run(ctx)
	if e.panicked != nil {
		panic(e.panicked)
	}
	return e.value, e.err
}

// hedge is a call of Hedge.
type hedge[T any] struct {
	pool   *Pool
	calls  []func(ctx context.Context) (T, error)
	after  time.Duration
	events chan hedged[T] // has room for all that may come
	errs   []error
	failed int
	waits  sync.WaitGroup // goroutines that wait for a call, as goroutines of the task that calls Hedge

	mu    sync.Mutex
	made  int         // calls; the goroutine that calls Hedge writes it, and reads it without mu
	begun bool        // the latest call has begun, or will never
	timer *time.Timer // runs from then on until it is time for the next one
	over  bool        // no event counts any more
}

// hedged is the end of a call.
type hedged[T any] struct {
	call     int
	value    T
	err      error
	panicked *Panic
}

// run returns the event that ends it.
func (h *hedge[T]) run(ctx context.Context) hedged[T] {
	own, cancel := context.WithCancel(ctx)
	defer h.waits.Wait() // when the last of them ends, the task has its place back
	defer h.ends(cancel)
	h.timer = time.NewTimer(h.after)
	h.timer.Stop()
	h.next(own)
	for {
		select {
		case <-ctx.Done():
			return hedged[T]{err: context.Cause(ctx)}
		case <-h.timer.C:
			h.next(own)
		case e := <-h.events:
			if ctx.Err() != nil && e.err != nil { // the select has taken one of two
				return hedged[T]{err: context.Cause(ctx)}
			}
			switch {
			case e.err == nil, e.panicked != nil:
				return e
			default:
				h.errs[e.call] = e.err
				if h.failed++; h.failed == len(h.calls) {
					return hedged[T]{err: errors.Join(h.errs...)}
				}
				if h.failed < h.made {
					h.begins(e.call) // unless it has: p has refused it, so the time to the next one begins now
				} else {
					h.timer.Stop()
					h.next(own)
				}
			}
		}
	}
}

// next makes the next call, if there is one.
func (h *hedge[T]) next(ctx context.Context) {
	if h.made == len(h.calls) {
		return
	}
	i := h.made
	h.mu.Lock()
	h.made++
	h.begun = false
	h.mu.Unlock()
	switch {
	case hostOf(ctx).pool != nil:
		h.waits.Go(func() { h.await(ctx, i) })
	case i == 0: // until that is accepted nothing else can happen
		h.hand(ctx, i)
	default:
		go h.hand(ctx, i)
	}
}

// await hands over a call, and waits for its end as the task that ctx comes from: the call may need the
// task's place.
func (h *hedge[T]) await(ctx context.Context, i int) {
	c := h.hand(ctx, i)
	if c == nil {
		return
	}
	select {
	case <-c.done: // it has started out of turn
	default: // the task may be over by now
		hostOf(ctx).await(h.pool, c.want(true), func(w *engine.Wakeup) { c.outcome(w, nil, ctx.Done()) })
	}
}

// hand hands over a call, and waits for room. It returns the call, or nil if it was not accepted.
func (h *hedge[T]) hand(ctx context.Context, i int) *hedgedCall[T] {
	c := &hedgedCall[T]{goTask: goTask{errand: errand{pool: h.pool, ctx: ctx, label: labelOf(ctx), done: make(chan struct{})}}, of: h, number: i}
	c.self = c
	if err := c.hand(); err != nil {
		h.tell(hedged[T]{call: i, err: err})
		return nil
	}
	return c
}

// hedgedCall is the task of a call.
type hedgedCall[T any] struct {
	goTask
	of     *hedge[T]
	number int
}

// do implements goes.
func (c *hedgedCall[T]) do(ctx context.Context) error {
	c.of.begins(c.number)
	c.of.call(ctx, c.number)
	return nil
}

// takes implements goes. What did not start has failed.
func (c *hedgedCall[T]) takes(err error) bool {
	if dropped, ok := errors.AsType[*DroppedError](err); ok {
		c.of.tell(hedged[T]{call: c.number, err: dropped.Cause})
	}
	return true
}

// call makes a call.
func (h *hedge[T]) call(ctx context.Context, i int) {
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if value == nil {
			h.tell(hedged[T]{call: i, err: ErrGoexit})
			return
		}
		caught := h.pool.core.reporter.caught(value)
		caught.Label = labelOf(ctx).of()
		if h.pool.core.engine.Crash || !h.tell(hedged[T]{call: i, panicked: caught}) {
			panic(value)
		}
	}()
	value, err := h.calls[i](ctx)
	returned = true
	h.tell(hedged[T]{call: i, value: value, err: err})
}

// begins is called when a call begins, and when one has ended that may never have begun. From the latest call on it is a while until the next one.
// The goroutine that calls Hedge need not run for that.
func (h *hedge[T]) begins(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i == h.made-1 && !h.begun && !h.over {
		h.begun = true
		h.timer.Reset(h.after)
	}
}

// tell reports false if the call of Hedge has ended.
func (h *hedge[T]) tell(e hedged[T]) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.events <- e
	}
	return !h.over
}

// ends ends it. Panics that came too late go to the handler.
func (h *hedge[T]) ends(cancel context.CancelFunc) {
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.timer.Stop() // which begins does not start any more
	cancel()
	for {
		select {
		case e := <-h.events:
			if e.panicked != nil {
				h.pool.core.reporter.aside(func() { h.pool.core.reportPanic(e.panicked) })
			}
		default:
			return
		}
	}
}
