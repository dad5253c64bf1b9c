package model_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/model"
)

func (m *groupMachine) goOutside(t *rapid.T) {
	g := pick(t, m.groups, "group")
	if m.pool.Closed && g.model.Limit > 0 && g.model.Spare(g.model.Limit) <= 0 {
		notNow() // it would fail, and cancel the group, when another just starts
	}
	k := m.newTask()
	m.step = fmt.Sprintf("Go of task %d to %s", k.model.ID, g.name)
	m.call(m.step, g.model.Go(k.model, false), func(*call) error { g.lib.Go(k.member); return nil })
}

// tryGo calls TryGo from outside, or in a task of the group itself.
func (m *groupMachine) tryGo(t *rapid.T) {
	g := pick(t, m.groups, "group")
	var members []*task
	for _, k := range m.able() {
		if k.model.Batch != nil && k.model.Batch == g.model.Batch() {
			members = append(members, k)
		}
	}
	k := m.newTask()
	m.step = fmt.Sprintf("TryGo of task %d to %s", k.model.ID, g.name)
	c := m.newCall(m.step, g.model.Go(k.model, true))
	try := func() { c.make(m.world, func(*call) error { return tryGo(g.lib, k) }) }
	if at := between(t, 0, len(members), "where"); at > 0 {
		members[at-1].orders <- order{do: try}
		return
	}
	try()
}

func tryGo(g *weir.Group, k *task) error {
	if !g.TryGo(k.member) {
		return model.ErrRefused
	}
	return nil
}

func (m *groupMachine) waitOutside(t *rapid.T) {
	g := pick(t, m.groups, "group")
	c := m.waitFor(g)
	m.rest()
	if g.model.Owned && c.model.Done && between(t, 0, 15, "look for workers") == 0 {
		m.noWorkers()
	}
}

func (m *groupMachine) waitFor(g *group) *call {
	m.step = "Wait for " + g.name
	c := m.call(m.step, g.model.Wait(), func(*call) error { return wait(g.lib) })
	c.wraps = true
	return c
}

// noWorkers fails the check if the bubble has a goroutine that is a worker.
func (m *groupMachine) noWorkers() {
	buffer := make([]byte, 1<<20)
	all := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	_, bubble, _ := strings.Cut(all[0], "synctest bubble ")
	bubble, _, _ = strings.Cut(bubble, "]")
	for _, stack := range all {
		if strings.Contains(stack, "synctest bubble "+bubble+"]") && strings.Contains(stack, "weir/internal/engine") {
			m.fail("a worker is left:\n%s", stack)
		}
	}
}

// endTask ends a task, in one of the ways in which tasks end.
func (m *groupMachine) endTask(t *rapid.T) {
	k := pick(t, m.able(), "task that may end")
	m.step = fmt.Sprintf("the end of task %d", k.model.ID)
	if k.model.Batch == nil {
		m.finishTask(k, nil)
		return
	}
	m.endMember(t, k, k.model.Batch.Crowded()) // others would be cancelled while room is made
}

// giveUp makes a task call Blocking.
func (m *groupMachine) giveUp(t *rapid.T) {
	k := pickIf(t, m.able(), "task that gives its place up", func(k *task) bool { return k.model.Batch != nil })
	m.step = fmt.Sprintf("Blocking in task %d", k.model.ID)
	m.mu.Lock()
	ctx := k.ctx
	m.mu.Unlock()
	back := make(chan struct{})
	k.back = back
	m.pool.GiveUp(k.model)
	k.orders <- order{do: func() { weir.Blocking(ctx, func() { <-back }) }}
}

func (m *groupMachine) comeBack(t *rapid.T) {
	m.letBack(pickIf(t, m.tasks, "task that comes back", func(k *task) bool { return k.model.State == model.Away }))
}

func (m *groupMachine) letBack(k *task) {
	m.step = fmt.Sprintf("task %d comes back", k.model.ID)
	m.pool.Return(k.model)
	close(k.back)
}

func (m *groupMachine) cancelGroup(t *rapid.T) {
	g := pick(t, m.groups, "group")
	if m.racy(g) {
		notNow()
	}
	var cause error
	if rapid.Bool().Draw(t, "with a cause") {
		cause = errors.New("why " + g.name + " was cancelled")
	}
	m.step = fmt.Sprintf("Cancel(%v) of %s", cause, g.name)
	g.model.Cancel(cause)
	g.lib.Cancel(cause)
}

// racy reports whether the cancellation of a group would make room for submitters that it turns away.
func (m *groupMachine) racy(g *group) bool {
	return g.model.Batch().Crowded() && g.model.Batch().Awaited()
}

func (m *groupMachine) resizeGroup(t *rapid.T) {
	g := pick(t, m.groups, "group")
	n := between(t, 1, 5, "new limit")
	switch {
	case g.model.Limit == 0 && !g.model.Owned:
		notNow() // it has no limit
	case g.model.Limit > 0 && min(g.model.Spare(n), g.model.Lined()) > 1:
		notNow() // it would be open which one comes first
	}
	m.step = fmt.Sprintf("Resize(%d) of %s", n, g.name)
	g.model.Resize(n)
	g.lib.Resize(n)
}

// lookAtContexts compares what the contexts of groups and of tasks say.
func (m *groupMachine) lookAtContexts(*rapid.T) {
	m.step = "a look at the contexts"
	for _, g := range m.groups {
		m.lookAt(g.lib.Context(), g.name, g.model.Batch())
	}
	m.mu.Lock()
	contexts := map[*task]context.Context{}
	for _, k := range m.tasks {
		if k.ctx != nil && k.model.Batch != nil {
			contexts[k] = k.ctx
		}
	}
	m.mu.Unlock()
	for k, ctx := range contexts {
		m.lookAt(ctx, fmt.Sprintf("task %d", k.model.ID), k.model.Batch)
	}
}

func (m *groupMachine) lookAt(ctx context.Context, whose string, b *model.Batch) {
	switch err, cause := ctx.Err(), context.Cause(ctx); {
	case b.Cancelled && (err == nil || !alike(cause, b.Cause)):
		m.fail("the context of %s is done with %v because of %v, want %v", whose, err, cause, b.Cause)
	case !b.Cancelled && !b.Over && err != nil:
		m.fail("the context of %s is done with %v because of %v, and should not be", whose, err, cause)
	case b.Over && err == nil:
		m.fail("the context of %s is not done, and its batch is over", whose)
	}
}

func (m *groupMachine) passTime(*rapid.T) {
	if slices.ContainsFunc(m.groups, m.racy) {
		notNow()
	}
	m.step = "letting a minute pass"
	m.pass(time.Minute)
}

func (m *groupMachine) cancelContext(t *rapid.T) {
	if slices.ContainsFunc(m.groups, m.racy) {
		notNow()
	}
	m.world.cancelContext(t)
}

// shutdown closes the pool with a context that is done.
func (m *groupMachine) shutdown(*rapid.T) {
	if m.pool.Paused {
		notNow() // it would be open whether tasks start or are handed back
	}
	if slices.ContainsFunc(m.groups, func(g *group) bool { return g.model.Lined() > 0 }) {
		notNow() // it would be open how many of them fail before their group is cancelled
	}
	m.world.shutdown(m.newContext(-1))
}
