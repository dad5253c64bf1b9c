package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
)

// errand is a task outside a group that has a context: a future's, or one of [Pool.Go] or [Once.Do].
type errand struct {
	self listener // refers to the whole: what travels through the pool
	pool *Pool
	ctx  context.Context // what the caller gave
	// That of ctx. The context of the task answers for it, or each of n tasks that hand over the next would ask all those before it.
	label *label

	progress
	done   chan struct{}  // closed when all is final; a task of Go has none unless a task has handed it over
	worker *engine.Worker // that runs the task
	tasks  engine.Wakeups // of those that wait for it
}

// submit hands the task over. If ctx is the context of a task of the same family, submit may block until the errand has ended.
func (e *errand) submit(ctx context.Context) (err error) {
	p := e.pool
	t := listenerJob(&e.self, nil, inTurn).Task
	host := hostOf(ctx)
	if host.pool == nil {
		return p.core.submit(ctx, t)
	}
	return e.submitInTask(ctx, t, host)
}

// submitInTask is submit for a caller that is a task. It is no part of submit: see [Group.initInTask].
//
//go:noinline
func (e *errand) submitInTask(ctx context.Context, t engine.Task, host task) (err error) {
	p := e.pool
	if e.done == nil {
		e.done = make(chan struct{})
	}
	if ctx.Err() == nil && p.core.running().Fits(t, nil) {
		return nil
	}
	want, s := e.want(false), stay{task: host}
	kin := host.pool != p && p.core.engine.IsKin(host.pool.core.engine)
	if kin {
		s.init(host.pool.core.engine)
	}
	s.await(p, want, func(w *engine.Wakeup) {
		// A task that starts out of turn in the caller's own pool has the caller's place, most likely. To
		// go on now the caller would need one more, and another with each errand that finds the
		// pool full.
		w.Stays = host.pool == p
		e.tasks.Add(w)
		defer e.tasks.Remove(w)
		err = p.core.submitWanted(ctx, t, want, w)
		switch {
		case w.Stays && e.void():
			w.WaitsOn(nil)
			e.outcome(w, nil, ctx.Done())
		case kin && err == nil && e.void() && p.core.engine.Lingers(nil, &s.waiter, w):
			s.until(e.done, ctx.Done())
		}
	})
	return err
}

// want returns the want of a task that waits for the errand. submitted says whether the errand's own task is in the pool
// already.
func (e *errand) want(submitted bool) *engine.Want {
	w := new(engine.SingleWant)
	w.Init(claimer{&e.progress, &e.self}, &e.single, submitted)
	return &w.Want
}

// outcome waits until the errand has ended, or one of the other channels is closed, and returns
// the channel that was.
func (e *errand) outcome(w *engine.Wakeup, cancelled, done <-chan struct{}) <-chan struct{} {
	e.tasks.Add(w)
	defer e.tasks.Remove(w)
	select {
	case <-e.done:
		return e.done
	case <-cancelled:
		return cancelled
	case <-done:
		return done
	}
}

// dropped counts the task, which a worker has come to and does not run. It reports whether that was its turn.
func (e *errand) dropped(claimed bool) bool {
	if !claimed && e.void() {
		e.pool.core.engine.Skipped()
		return false
	}
	if !claimed {
		e.pool.core.engine.Untake()
	}
	e.pool.core.engine.HandedBack()
	return true
}
