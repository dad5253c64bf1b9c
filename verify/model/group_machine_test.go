package model_test

import (
	"context"
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
	"github.com/64ed045f/weir/verify/model"
)

// groupMachine takes random steps on groups and their pool.
type groupMachine struct {
	*world
	plain  *weir.Pool // nil if the pool is the group's own
	groups []*group
}

// group is a group of the library, and its model.
type group struct {
	lib   *weir.Group
	model *model.Group
	name  string
}

// checkGroups takes steps on groups that share a pool with plain tasks. None is made in a task: which of several tasks then gets a place is
// often open, and package programs looks at those.
func checkGroups(t *rapid.T) {
	m := newGroupMachine(t)
	m.closing = oneOf(t, []int{0, 20, 60, 200}, "steps before Close")
	opts := m.poolOptions(t)
	pool := face.New(m.pool.Limit, (*task).run, opts...)
	m.lib, m.plain = pool, pool.Pool
	defer m.end(m.lib.Close)
	for range between(t, 1, 3, "groups") {
		m.newGroup(t)
	}
	steps(t, m.actions(), func() { m.look(); m.steps++ })
	m.finish()
}

// checkOwnGroup takes steps on a group that has workers of its own.
func checkOwnGroup(t *rapid.T) {
	m := newGroupMachine(t)
	opts := m.poolOptions(t)
	parent, modelled := m.drawParent(t)
	g, groupOpts := m.drawGroup(t, modelled)
	g.model.Owned = true
	for _, opt := range groupOpts {
		opts = append(opts, opt)
	}
	g.lib = weir.NewGroup(parent, m.pool.Limit, opts...)
	defer m.end(func() {
		defer func() { _ = recover() }() // of a task: the check has ended
		_ = wait(g.lib)
	})
	steps(t, m.actions(), func() { m.look(); m.steps++ })
	m.finish()
}

func newGroupMachine(t *rapid.T) *groupMachine {
	m := &groupMachine{world: newWorld(t)}
	m.step = "the beginning"
	return m
}

func (m *groupMachine) poolOptions(t *rapid.T) []weir.Option {
	m.pool = &model.Pool{
		Limit:       between(t, 1, 4, "limit"),
		Queue:       oneOf(t, []int{0, 1, 2, 4, weir.Unbounded}, "queue"),
		MaxWaiting:  math.MaxInt,
		IdleTimeout: oneOf(t, []time.Duration{time.Hour, 0}, "idle timeout"),
	}
	return []weir.Option{
		weir.Queue(m.pool.Queue), weir.IdleTimeout(m.pool.IdleTimeout),
		weir.OnPanic(m.recordPanic),
	}
}

// drawGroup draws the model of a group, and what the library's must be made with.
func (m *groupMachine) drawGroup(t *rapid.T, parent *model.Context) (*group, []weir.GroupOption) {
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

// newGroup makes a group on the pool.
func (m *groupMachine) newGroup(t *rapid.T) {
	parent, modelled := m.drawParent(t)
	g, opts := m.drawGroup(t, modelled)
	g.lib = m.plain.Group(parent, opts...)
}

// drawParent draws the context that a group is made from.
func (m *groupMachine) drawParent(t *rapid.T) (context.Context, *model.Context) {
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

// look compares once more, with the counts of the pool.
func (m *groupMachine) look() {
	m.rest()
	if m.lib == nil {
		return
	}
	got := m.lib.Stats()
	want := m.pool.Stats()
	if got.Workers < got.Running || got.Idle > got.Workers || m.pool.IdleTimeout == 0 && got.Idle > 0 {
		m.fail("Stats contradict themselves: %+v", got)
	}
	want.Workers, want.Idle = got.Workers, got.Idle
	want.Rejected = got.Rejected // only Submit promises what that counts
	if got != want {
		m.fail("Stats are\n%+v, want\n%+v", got, want)
	}
}

func (m *groupMachine) actions() []action {
	actions := []action{
		{"go", 8, m.goOutside},
		{"tryGo", 4, m.tryGo},
		{"end", 12, m.endTask},
		{"wait", 4, m.waitOutside},
		{"cancel", 1, m.cancelGroup},
		{"cancel context", 1, m.cancelContext},
		{"resize group", 2, m.resizeGroup},
		{"context", 2, m.lookAtContexts},
		{"give up", 4, m.giveUp},
		{"come back", 6, m.comeBack},
	}
	if m.lib == nil {
		return actions
	}
	return append(actions, []action{
		{"submit", 3, m.submit},
		{"group", 1, m.newGroup},
		{"pool wait", 1, m.wait},
		{"pass", 1, m.passTime},
		{"resize", 3, m.resize},
		{"close", 1, m.close},
		{"pause", 1, m.pause},
		{"resume", 3, m.resume},
		{"shutdown", 1, m.shutdown},
	}...)
}

// finish lets everything end, waits for all groups, and closes the pool.
func (m *groupMachine) finish() {
	m.step = "the end of everything"
	if m.lib != nil {
		m.pool.Resume()
		m.lib.Resume()
		m.look()
	}
	for m.finishOne() {
		m.look()
	}
	for _, g := range m.groups {
		m.waitFor(g)
		m.look()
	}
	if m.lib == nil {
		m.noWorkers()
	} else {
		m.closing = 0
		m.close(m.t)
		m.look()
	}
	m.allOver()
}

// finishOne ends one task, or lets it come back.
func (m *groupMachine) finishOne() bool {
	for _, k := range m.tasks {
		if k.model.State == model.Away {
			m.letBack(k)
			return true
		}
	}
	able := m.able()
	if len(able) == 0 {
		return false
	}
	k := able[0]
	m.step = fmt.Sprintf("the last order for task %d", k.model.ID)
	m.finishTask(k, nil)
	return true
}

// wait is Wait; the panic that comes out of it is the caller's.
func wait(g *weir.Group) error { return g.Wait() }
