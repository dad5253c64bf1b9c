package model_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
)

func (m *poolMachine) submitContext(t *rapid.T) {
	k, ctx := m.newTask(), m.drawContext(t)
	m.step = fmt.Sprintf("SubmitContext of task %d", k.model.ID)
	m.call(m.step, m.pool.Submit(ctx.model, k.model, false), func(*call) error {
		return m.view.lib.InvokeContext(ctx, k)
	})
}

// goTask hands over a task with its context.
func (m *poolMachine) goTask(t *rapid.T) {
	if m.goes == nil {
		notNow()
	}
	k, ctx := m.newTask(), m.drawContext(t)
	k.goes = true
	m.step = fmt.Sprintf("Go of task %d", k.model.ID)
	m.call(m.step, m.pool.Go(ctx.model, k.model), func(*call) error {
		return m.goes(weir.Label(ctx, strconv.Itoa(k.model.ID)), k.member)
	})
}

func (m *poolMachine) trySubmit(t *rapid.T) {
	k := m.newTask()
	m.step = fmt.Sprintf("TrySubmit of task %d", k.model.ID)
	c := m.newCall(m.step, m.pool.Submit(nil, k.model, true))
	m.somewhere(t, func() { c.make(m.world, func(*call) error { return m.view.lib.TryInvoke(k) }) })
}

// burst submits several tasks without letting the world come to rest in between: a free worker
// has room for one more also when nothing has woken it yet.
func (m *poolMachine) burst(t *rapid.T) {
	n := between(t, 2, 8, "tasks")
	m.step = fmt.Sprintf("a burst of %d tasks from %d on", n, len(m.tasks))
	for range n {
		k := m.newTask()
		c := m.newCall(m.step, m.pool.Submit(nil, k.model, true))
		c.make(m.world, func(*call) error { return m.view.lib.TryInvoke(k) })
		m.pool.Settle(nil)
	}
}

func (m *poolMachine) do(t *rapid.T) {
	if m.plain == nil {
		notNow()
	}
	k, ctx := m.newTask(), m.drawContext(t)
	m.step = fmt.Sprintf("Do of task %d", k.model.ID)
	m.call(m.step, m.pool.Do(ctx.model, k.model), func(*call) error { return m.plain.Do(ctx, k.member) })
}

// doInside calls Do with the context of a task that runs, which has a place already.
func (m *poolMachine) doInside(t *rapid.T) {
	k := pickIf(t, m.able(), "task with a context", func(k *task) bool { return k.model.Visit != nil })
	m.step = fmt.Sprintf("Do in task %d", k.model.ID)
	want, got, called := errors.New("of the inner task"), error(nil), false
	k.orders <- order{do: func() {
		got = m.plain.Do(k.ctx, func(inner context.Context) error {
			called = alike(inner.Err(), k.ctx.Err())
			return want
		})
	}}
	m.rest()
	if k.ctx.Err() != nil {
		want = context.Cause(k.ctx)
	}
	if !alike(got, want) || called != (k.ctx.Err() == nil) {
		m.fail("it has returned %v (called: %t), want %v", got, called, want)
	}
}

func (m *poolMachine) release(t *rapid.T) {
	k := pick(t, m.live(), "task that runs")
	m.step = fmt.Sprintf("the end of task %d", k.model.ID)
	if k.held == nil && k.model.Context != nil && rapid.Bool().Draw(t, "fails") {
		k.err = fmt.Errorf("returned by task %d", k.model.ID)
	}
	m.letGo(k)
}

// letGo ends a task: that of Do returns an error, others return that of their own, if any, or come back from the handler
// of their panic.
func (m *poolMachine) letGo(k *task) {
	if k.model.Batch != nil {
		m.pool.EndMember(k.model, k.err)
		k.orders <- order{do: func() {}, last: true}
		return
	}
	if k.held != nil {
		close(k.held.hold)
		k.model.Pool.Finish(k.model)
		m.expectLogs(k.held)
		return
	}
	switch c := k.model.Visit; {
	case c != nil:
		k.err = fmt.Errorf("returned by task %d", k.model.ID)
		c.Err = k.err
	case k.goes && k.err != nil:
		m.wantErrs = append(m.wantErrs, k.err)
	}
	m.endRun(k, k.err)
	k.model.Pool.Finish(k.model)
	k.orders <- order{do: func() {}, last: true}
}

// panic makes a task panic. The panic of a task that Do runs is its caller's.
func (m *poolMachine) panic(t *rapid.T) {
	k := pick(t, m.able(), "task that runs")
	m.step = fmt.Sprintf("the panic of task %d", k.model.ID)
	b := &boom{task: k.model.ID}
	if c := k.model.Visit; c != nil {
		c.Panic = b
		k.model.Pool.Finish(k.model)
	} else if k.value != nil {
		m.panicRun(k, b)
	} else {
		k.model.Pool.Panicked(k.model)
		if m.handler != noHandler {
			m.wantPanics = append(m.wantPanics, b)
			if rapid.Bool().Draw(t, "handler blocks") {
				b.hold = make(chan struct{})
			}
		}
		if b.hold == nil {
			k.model.Pool.Finish(k.model)
			m.expectLogs(b)
		} else {
			k.held = b
		}
	}
	k.orders <- order{do: func() { panic(b) }}
}

// expectLogs notes what is logged when a panic has been dealt with.
func (m *poolMachine) expectLogs(*boom) {
	switch m.handler {
	case noHandler:
		m.wantLogs = append(m.wantLogs, "weir: task panicked")
	case panicking:
		m.wantLogs = append(m.wantLogs, "weir: task panicked", "weir: panic handler panicked")
	case recording:
	}
}

func (m *poolMachine) exit(t *rapid.T) {
	k := pick(t, m.able(), "task that runs")
	m.step = fmt.Sprintf("Goexit in task %d", k.model.ID)
	if c := k.model.Visit; c != nil {
		c.Exit = true
	}
	if k.goes {
		m.wantErrs = append(m.wantErrs, weir.ErrGoexit)
	}
	m.endRun(k, weir.ErrGoexit)
	k.model.Pool.Finish(k.model)
	k.orders <- order{do: runtime.Goexit}
}

func (m *poolMachine) passTime(t *rapid.T) {
	m.mayCancel()
	times := []time.Duration{1, 500 * time.Millisecond, 3 * time.Second, 30 * time.Second, time.Minute}
	if at, ok := m.pool.Expiry(); ok {
		left := at - m.pool.Now
		times = append(times, left, left+1)
		if left > 1 {
			times = append(times, left-1)
		}
	}
	if m.once != nil && m.once.keep > 0 {
		times = append(times, m.once.keep, m.once.keep)
	}
	d := pick(t, times, "time")
	m.step = "letting " + d.String() + " pass"
	m.pass(d)
}

func (m *poolMachine) cancelContext(t *rapid.T) {
	m.mayCancel()
	m.world.cancelContext(t)
}

func (m *poolMachine) shutdown(t *rapid.T) {
	if len(m.groups) == 0 {
		m.world.shutdown(m.drawContext(t))
		return
	}
	if m.pool.Paused {
		notNow() // it would be open whether tasks start or are handed back
	}
	if slices.ContainsFunc(m.groups, func(g *group) bool { return g.model.Lined() > 0 }) {
		notNow() // it would be open how many of them fail before their group is cancelled
	}
	m.world.shutdown(m.newContext(-1)) // which is done
}
