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

// group is a group of the library, and its model.
type group struct {
	lib   *weir.Group
	model *model.Group
	name  string
}

// drawGroup draws the model of a group, and what the library's must be made with.
func (m *poolMachine) drawGroup(t *rapid.T, parent *model.Context) (*group, []weir.GroupOption) {
	g := &group{model: m.pool.NewGroup(parent), name: fmt.Sprintf("group %d", len(m.groups))}
	m.groups = append(m.groups, g)
	var opts []weir.GroupOption
	if g.model.KeepGoing = rapid.Bool().Draw(t, "keep going"); g.model.KeepGoing {
		opts = append(opts, weir.KeepGoing())
	}
	if g.model.PanicsAsErrors = rapid.Bool().Draw(t, "panics as errors"); g.model.PanicsAsErrors {
		opts = append(opts, weir.PanicsAsErrors())
	}
	if n := between(t, 0, 6, "group limit"); n > 0 && n < 4 {
		g.model.Limit = n
		opts = append(opts, weir.Limit(n))
	}
	return g, opts
}

// newGroup makes a group on the pool. None is made in a task: which of several tasks then gets a place is often open, and
// package programs looks at those.
func (m *poolMachine) newGroup(t *rapid.T) {
	parent, modelled := m.drawParent(t)
	g, opts := m.drawGroup(t, modelled)
	g.lib = m.plain.Group(parent, opts...)
}

// makeGroup makes a group that has workers of its own.
func (m *poolMachine) makeGroup(opts []weir.Option) {
	parent, modelled := m.drawParent(m.t)
	g, more := m.drawGroup(m.t, modelled)
	g.model.Owned = true
	for _, opt := range more {
		opts = append(opts, opt)
	}
	g.lib = weir.NewGroup(parent, m.pool.Limit, opts...)
}

// drawParent draws the context that a group is made from.
func (m *poolMachine) drawParent(t *rapid.T) (context.Context, *model.Context) {
	after := time.Duration(0)
	switch between(t, 0, 3, "parent") {
	case 0:
		after = time.Minute
	case 1:
		return context.Background(), nil // which is never done
	}
	c := m.newContext(after)
	if between(t, 0, 1, "type of parent") == 0 {
		return c.Context, c.model // which the standard library knows
	}
	return c, c.model
}

func (m *poolMachine) groupActions() []action {
	actions := []action{
		{"go", 10, m.goOutside},
		{"tryGo", 5, m.tryGo},
		{"end", 16, m.endTask},
		{"group wait", 5, m.waitOutside},
		{"cancel group", 1, m.cancelGroup},
		{"resize group", 2, m.resizeGroup},
		{"context", 2, m.lookAtContexts},
		{"give up", 5, m.giveUp},
		{"come back", 8, m.comeBack},
	}
	if m.plain == nil {
		return append(actions, action{"cancel", 1, m.cancelContext})
	}
	return append(actions, action{"group", 1, m.newGroup})
}

func (m *poolMachine) goOutside(t *rapid.T) {
	g := pick(t, m.groups, "group")
	if m.pool.Closed && g.model.Limit > 0 && g.model.Spare(g.model.Limit) <= 0 {
		notNow() // it would fail, and cancel the group, when another just starts
	}
	k := m.newTask()
	m.step = fmt.Sprintf("Go of task %d to %s", k.model.ID, g.name)
	m.call(m.step, g.model.Go(k.model, false), func(*call) error { g.lib.Go(k.member); return nil })
}

// tryGo calls TryGo from outside, or in a task of the group itself.
func (m *poolMachine) tryGo(t *rapid.T) {
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

func (m *poolMachine) waitOutside(t *rapid.T) {
	g := pick(t, m.groups, "group")
	c := m.waitFor(g)
	m.rest()
	if g.model.Owned && c.model.Done && between(t, 0, 15, "look for workers") == 0 {
		m.noWorkers()
	}
}

func (m *poolMachine) waitFor(g *group) *call {
	m.step = "Wait for " + g.name
	c := m.call(m.step, g.model.Wait(), func(*call) error { return wait(g.lib) })
	c.wraps = true
	return c
}

// noWorkers fails the check if the bubble has a goroutine that is a worker.
func (m *poolMachine) noWorkers() {
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
func (m *poolMachine) endTask(t *rapid.T) {
	k, how := pick(t, m.able(), "task that may end"), 0
	m.step = fmt.Sprintf("the end of task %d", k.model.ID)
	if k.model.Batch != nil && !k.model.Batch.Crowded() { // else others would be cancelled while room is made
		how = between(t, 0, 7, "how")
	}
	switch how {
	case 5:
		m.step = fmt.Sprintf("Goexit in task %d", k.model.ID)
		m.pool.EndMember(k.model, weir.ErrGoexit)
		k.orders <- order{do: runtime.Goexit}
	case 6:
		m.step = fmt.Sprintf("the panic of task %d", k.model.ID)
		b := &boom{task: k.model.ID}
		if m.pool.PanicMember(k.model, b) {
			m.wantPanics = append(m.wantPanics, b)
		}
		k.orders <- order{do: func() { panic(b) }}
	case 7:
		k.err = fmt.Errorf("returned by task %d", k.model.ID)
		m.letGo(k)
	default:
		m.letGo(k)
	}
}

// giveUp makes a task call Blocking.
func (m *poolMachine) giveUp(t *rapid.T) {
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

func (m *poolMachine) comeBack(t *rapid.T) {
	m.letBack(pickIf(t, m.tasks, "task that comes back", func(k *task) bool { return k.model.State == model.Away }))
}

func (m *poolMachine) letBack(k *task) {
	m.step = fmt.Sprintf("task %d comes back", k.model.ID)
	m.pool.Return(k.model)
	close(k.back)
}

func (m *poolMachine) cancelGroup(t *rapid.T) {
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

// mayCancel makes a step impossible that may cancel a group which is racy.
func (m *poolMachine) mayCancel() {
	if slices.ContainsFunc(m.groups, m.racy) {
		notNow()
	}
}

// racy reports whether the cancellation of a group would make room for submitters that it turns away.
func (m *poolMachine) racy(g *group) bool {
	return g.model.Batch().Crowded() && g.model.Batch().Awaited()
}

func (m *poolMachine) resizeGroup(t *rapid.T) {
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
func (m *poolMachine) lookAtContexts(*rapid.T) {
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

func (m *poolMachine) lookAt(ctx context.Context, whose string, b *model.Batch) {
	switch err, cause := ctx.Err(), context.Cause(ctx); {
	case b.Cancelled && (err == nil || !alike(cause, b.Cause)):
		m.fail("the context of %s is done with %v because of %v, want %v", whose, err, cause, b.Cause)
	case !b.Cancelled && !b.Over && err != nil:
		m.fail("the context of %s is done with %v because of %v, and should not be", whose, err, cause)
	case b.Over && err == nil:
		m.fail("the context of %s is not done, and its batch is over", whose)
	}
}

// wait is Wait; the panic that comes out of it is the caller's.
func wait(g *weir.Group) error { return g.Wait() }
