package weir

import (
	"context"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// core is what [Pool], [FuncPool] and [Stateful] have in common: everything but how a
// task is handed over, and handed back.
type core struct {
	engine   *engine.Engine
	reporter reporter
	turns    race.Turns
	above    *core                      // the pool of which it is a lane; nil if it is none
	made     uintptr                    // where: a program counter, of the caller of New; 0 for a group's
	shared   bool                       // the default pool, which must not be closed
	listed   atomic.Pointer[listedPool] // among those of Pools
}

// running returns the engine of a pool that is not the zero value.
func (c *core) running() *engine.Engine {
	if c.engine == nil {
		panic("weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value")
	}
	return c.engine
}

// prepare is the part of start that needs no engine.
func (c *core) prepare(o *options) {
	if l := o.lane; l != nil && o.rate == nil {
		_, o.rate = l.of.core.reporter.retry()
	}
	if l := o.lane; l != nil && l.reporter != nil {
		c.reporter = *l.reporter
	} else {
		c.reporter = reporter{newHooks(o)}
	}
	c.take(o.limit, o.queue)
}

// take lets the race detector know how tasks take turns.
func (c *core) take(limit, queue int) {
	c.turns.Limit(limit)
	c.turns.Queue(queue)
}

// runOn is hidden from the race detector. A group makes its engine late, in one of its tasks, of which those that come later know nothing
// there, as they know nothing of the worker that brings them to it.
//
//go:norace
func (c *core) runOn(e *engine.Engine) { c.engine = e }

func (c *core) start(o *options, config *engine.Config, e *engine.Engine) {
	if h := c.reporter.hooks; h != nil && h.slow != nil {
		end := config.End
		config.End = func(w *engine.Worker) {
			defer c.unwatchSlow()
			if end != nil {
				end(w)
			}
		}
	}
	if o.rate != nil {
		e.Rate(o.rate.bucket)
	}
	if l := o.lane; l != nil {
		c.runOn(e) // before others know of the lane
		l.init(c, e, config)
	} else {
		e.Init(config)
		c.runOn(e)
	}
	if o.prestart > 0 {
		c.engine.Start(o.prestart)
	}
}

// hand waits for room.
func (c *core) hand(task engine.Task) error {
	e := c.running()
	if e.Offer(task) {
		return nil
	}
	c.noticeFull()
	return refusal(e.WaitForRoom(task, nil, nil, nil))
}

// try does not wait for room. want is as for [engine.Engine.TrySubmit].
func (c *core) try(task engine.Task, want *engine.Want) error {
	verdict := c.running().TrySubmit(task, want)
	if verdict == engine.Full {
		c.noticeRefused()
	}
	return refusal(verdict)
}

// submit waits for room until ctx is done.
func (c *core) submit(ctx context.Context, task engine.Task) error {
	return c.submitWanted(ctx, task, nil, nil)
}

// submitWanted is submit for a task that a task waits for: see [engine.Want].
func (c *core) submitWanted(ctx context.Context, task engine.Task, want *engine.Want, wakeup *engine.Wakeup) error {
	if ctx.Err() != nil {
		c.running().Reject()
		return context.Cause(ctx)
	}
	e := c.running()
	if e.OfferFor(task, want) {
		return nil
	}
	c.noticeFull()
	verdict := e.WaitForRoom(task, ctx.Done(), want, wakeup)
	if verdict == engine.Cancelled {
		return causeOf(ctx)
	}
	return refusal(verdict)
}

// report deals with a task that did not return; panicked is nil if it did not
// panic either.
func (c *core) report(panicked any) {
	if panicked != nil {
		c.reportPanic(c.reporter.caught(panicked))
	}
}

// reportPanic hands a panic to the handler, which is a part of the task.
func (c *core) reportPanic(p *Panic) {
	c.turns.Begin()
	defer c.turns.End()
	c.reporter.report(p)
}

// drop returns a function that reports a task without a context that was queued for too long. Any goroutine
// except a worker may call it.
func (c *core) drop(arg any) (tell func()) {
	return func() { c.reporter.fail(&DroppedError{Arg: arg, Cause: ErrExpired}, nil) }
}

// vacate is called for a task that does not run. w is nil if no worker has come to it.
func vacate(w *engine.Worker) {
	if w != nil {
		w.Vacate()
	}
}

func refusal(verdict engine.Verdict) error {
	switch verdict {
	case engine.Closed:
		return ErrClosed
	case engine.Full:
		return ErrFull
	default:
		return nil
	}
}

func (c *core) wait() { c.running().Wait(nil) }

func (c *core) waitContext(ctx context.Context) error {
	mustContext(ctx != nil)
	if !c.running().Wait(ctx.Done()) {
		return causeOf(ctx)
	}
	return nil
}

func (c *core) resize(limit int) {
	mustLimit(limit)
	e := c.running()
	c.turns.Limit(limit)
	c.turns.Order()
	e.Resize(limit)
}

func (c *core) pause() {
	if c.running().Pause() {
		c.list() // it may have no worker yet, which would do that
	}
}

func (c *core) resume() {
	e := c.running()
	c.turns.Resume()
	e.Resume()
}

func (c *core) close() {
	c.mustBeOwn()
	e := c.running()
	c.turns.Order()
	e.Close()
	c.ends(nil)
}

func (c *core) mustBeOwn() {
	if c.shared {
		panic("weir: the default pool is shared and cannot be closed")
	}
}

func (c *core) stats() Stats { return Stats(c.running().Stats()) }

func (c *core) glance() Stats { return Stats(c.running().Glance()) }

func (c *core) shutdown(ctx context.Context) ([]engine.Task, error) {
	mustContext(ctx != nil)
	c.mustBeOwn()
	e := c.running()
	c.turns.Order()
	unrun, finished := e.Shutdown(ctx.Done())
	if finished && c.ends(ctx.Done()) {
		return nil, nil
	}
	s := c.glance()
	return unrun, &ShutdownError{Running: s.Running + s.Suspended, Cause: causeOf(ctx)}
}

// ends waits, after the last worker of a closed pool and of its lanes has ended, for all else that belongs to
// the pool. It reports false if done is closed first.
func (c *core) ends(done <-chan struct{}) bool {
	c.unlist()
	c.reporter.hooks.stop(done)
	all := true
	for l := range c.lanes() {
		all = l.ends(done) && all
	}
	return all
}
