package model_test

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/model"
)

// What the machines do with a pool, with and without groups.

// able returns the tasks that run and can take an order.
func (w *world) able() (able []*task) {
	for _, k := range w.tasks {
		if k.model.State == model.Running && k.held == nil {
			able = append(able, k)
		}
	}
	return able
}

// somewhere calls f, which does not block, from outside or in a task of the pool.
func (w *world) somewhere(t *rapid.T, f func()) {
	able := w.able()
	if at := between(t, 0, len(able), "where"); at > 0 {
		able[at-1].orders <- order{do: f}
		return
	}
	f()
}

// drawContext draws one that goes on, ends soon, or has ended.
func (w *world) drawContext(t *rapid.T) *deadline {
	const ms = time.Millisecond
	return w.newContext(oneOf(t, []time.Duration{-1, 700 * ms, 1400 * ms, 0, 0, 0}, "context"))
}

func (w *world) submit(*rapid.T) {
	k := w.newTask()
	w.step = fmt.Sprintf("Submit of task %d", k.model.ID)
	w.call(w.step, w.pool.Submit(nil, k.model, false), func(*call) error { return w.lib.Invoke(k) })
}

func (w *world) resize(t *rapid.T) {
	n := between(t, 1, 5, "new limit")
	w.step = fmt.Sprintf("Resize(%d)", n)
	w.pool.Resize(n)
	w.somewhere(t, func() { w.lib.Resize(n) })
}

func (w *world) pause(t *rapid.T) {
	w.step = "Pause"
	w.pool.Pause()
	w.somewhere(t, w.lib.Pause)
}

func (w *world) resume(t *rapid.T) {
	w.step = "Resume"
	w.pool.Resume()
	w.somewhere(t, w.lib.Resume)
}

func (w *world) wait(t *rapid.T) {
	if rapid.Bool().Draw(t, "without context") {
		w.step = "Wait"
		w.call(w.step, w.pool.Wait(nil), func(*call) error { w.lib.Wait(); return nil })
		return
	}
	ctx := w.drawContext(t)
	w.step = "WaitContext"
	w.call(w.step, w.pool.Wait(ctx.model), func(*call) error { return w.lib.WaitContext(ctx) })
}

// mayClose makes the step impossible if it is too early, or open what would become of groups or lanes.
func (w *world) mayClose() {
	if w.steps < w.closing || w.pool.Contested() {
		notNow()
	}
}

func (w *world) close(*rapid.T) {
	w.mayClose()
	w.step = "Close"
	w.call(w.step, w.pool.Close(), func(*call) error { w.lib.Close(); return nil })
}

func (w *world) shutdown(ctx *deadline) {
	w.mayClose()
	w.step = "Shutdown"
	w.call(w.step, w.pool.Shutdown(ctx.model), func(c *call) error {
		unrun, err := w.lib.Shutdown(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		c.unrun = unrun()
		if shut, ok := errors.AsType[*weir.ShutdownError](err); ok {
			c.running = shut.Running
			return shut.Cause
		}
		return err
	})
}

// allOver fails the check unless all tasks and calls are over.
func (w *world) allOver() {
	for _, k := range w.tasks {
		switch k.model.State {
		case model.Finished, model.HandedBack, model.Rejected:
		default:
			w.fail("task %d is %s when all is over", k.model.ID, k.model.State)
		}
	}
	for _, c := range w.calls {
		if !c.model.Done {
			w.fail("%s is blocked when all is over", c.name)
		}
	}
}

// recordError keeps what OnError gets.
func (w *world) recordError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dropped, ok := errors.AsType[*weir.DroppedError](err)
	if !ok {
		w.errs = append(w.errs, err)
		return
	}
	id, _ := strconv.Atoi(dropped.Label)
	w.tasks[id].drops = append(w.tasks[id].drops, dropped.Cause)
}
