package model_test

import (
	"context"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
	"github.com/64ed045f/weir/verify/model"
)

// poolMachine takes random steps on a pool.
type poolMachine struct {
	*world
	view           // that of the step
	views   []view // the pool first
	name    string // of the pools
	handler handlerKind
	once    *once // nil for none
	groups  []*group
}

// view is what takes tasks: the pool, a lane, or a Keyed with one of its keys.
type view struct {
	model *model.Pool
	lib   face.Pool[*task] // nil for the workers of a group
	plain *weir.Pool       // nil for a FuncPool and a key
	goes  func(ctx context.Context, task func(ctx context.Context) error) error
	isKey bool
}

// poolKind is what a poolMachine takes its steps on.
type poolKind int

const (
	plainPool poolKind = iota
	funcPool
	lanes
	keys
	onces
	groupsOn   // a pool
	groupApart // a group with workers of its own
)

// handlerKind is what the pool does with panics.
type handlerKind int

const (
	recording handlerKind = iota
	noHandler
	panicking
)

func checkPool(t *rapid.T, kind poolKind) {
	m := &poolMachine{world: newWorld(t)}
	m.make(kind)
	defer m.end(func() {
		if pool := m.views[0].lib; pool != nil {
			pool.Close()
			return
		}
		defer func() { _ = recover() }() // of a task: the check has ended
		_ = wait(m.groups[0].lib)
	})
	m.step = "New"
	steps(t, m.actions(), func() { m.look(); m.steps++ })
	m.finish()
}

// make makes the pool, and its model, with random options.
func (m *poolMachine) make(kind poolKind) {
	t := m.t
	m.handler = oneOf(t, []handlerKind{recording, recording, noHandler, panicking}, "handler")
	m.closing = oneOf(t, []int{0, 10, 30, 60, 200}, "steps before Close")
	p := &model.Pool{
		Limit:       between(t, 1, 4, "limit"),
		Queue:       oneOf(t, []int{0, 1, 2, 3, 4, weir.Unbounded, 4096}, "queue"),
		MaxWaiting:  oneOf(t, []int{math.MaxInt, math.MaxInt, 0, 1, 2}, "max waiting"),
		IdleTimeout: oneOf(t, []time.Duration{10 * time.Second, 0, time.Second, 1}, "idle timeout"),
	}
	if kind == lanes || kind == keys {
		p.MaxWaiting = 0 // a worker may come to a cancelled task before lanes have taken all places, or not: so it is open whether there is room then
	}
	if kind >= groupsOn {
		p.MaxWaiting, m.handler = math.MaxInt, recording
	}
	// The first tasks of a group with workers of its own have none of these, unless there is a name, or some are there from the beginning.
	m.name = "model"
	if kind == groupApart {
		m.name = oneOf(t, []string{"", "", "", "model"}, "name")
	}
	// What is the default is not given.
	opts := []weir.Option{weir.Name(m.name)}
	if p.Queue != 4096 {
		opts = append(opts, weir.Queue(p.Queue))
	}
	if p.MaxWaiting != math.MaxInt {
		opts = append(opts, weir.MaxWaiting(p.MaxWaiting))
	}
	if p.IdleTimeout != 10*time.Second {
		opts = append(opts, weir.IdleTimeout(p.IdleTimeout))
	}
	if n := between(t, 0, p.Limit, "prestart"); n > 0 && m.name != "" {
		p.Prestart(n)
		opts = append(opts, weir.Prestart(n))
	}
	if m.handler != noHandler {
		opts = append(opts, weir.OnPanic(m.onPanic))
	}
	if kind == funcPool {
		m.views = []view{{model: p, lib: face.NewFunc(p.Limit, (*task).run, opts...)}}
		m.turn(m.views[0])
		return
	}
	if kind == groupApart {
		m.views = []view{{model: p}}
		m.turn(m.views[0])
		m.makeGroup(opts)
		return
	}
	pool := face.New(p.Limit, (*task).run, append(opts, weir.OnError(m.recordError))...)
	m.views = []view{{model: p, lib: pool, plain: pool.Pool, goes: pool.Go}}
	switch kind {
	case lanes:
		m.makeLanes(pool)
	case keys:
		m.makeKeys(pool)
	case onces:
		m.makeOnce(pool.Pool)
	case plainPool, funcPool, groupsOn, groupApart:
	}
	m.turn(m.views[0])
	if kind == groupsOn {
		for range between(t, 1, 3, "groups") {
			m.newGroup(t)
		}
	}
}

// turn sets what the steps are taken on.
func (m *poolMachine) turn(v view) { m.view, m.pool, m.world.lib = v, v.model, v.lib }

// at makes a step that is taken on one of the views; not on a key if it is one on a whole pool. The others follow the pool.
func (m *poolMachine) at(whole bool, step func(t *rapid.T)) func(t *rapid.T) {
	return func(t *rapid.T) {
		v := m.views[0]
		if len(m.views) > 1 {
			v = oneOf(t, m.views, "view")
		}
		if whole && v.isKey {
			notNow()
		}
		m.turn(v)
		taken := false
		defer func() {
			if !taken {
				m.turn(m.views[0])
			}
		}()
		step(t)
		taken = true
	}
}

// onPanic is the handler of the pool.
func (m *poolMachine) onPanic(p *weir.Panic) {
	b, ok := p.Value.(*boom)
	if !ok || p.Pool != m.name || len(p.Stack) == 0 {
		panic("a panic that is not the task's")
	}
	m.mu.Lock()
	m.panics = append(m.panics, b)
	m.mu.Unlock()
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-m.ended:
		}
	}
	if m.handler == panicking {
		panic("by the handler")
	}
}

// look compares once more, with the counts of the pool.
func (m *poolMachine) look() {
	m.rest()
	m.turn(m.views[0]) // not before: until the world is at rest goroutines may look
	for i, v := range m.views {
		if v.isKey || v.lib == nil {
			continue
		}
		got, want := v.lib.Stats(), v.model.Stats()
		exact := len(m.views) > 1
		switch {
		case len(m.groups) > 0: // which of their workers rest is not modelled
			exact = got.Workers >= got.Running && got.Idle <= got.Workers && (v.model.IdleTimeout > 0 || got.Idle == 0)
			want.Rejected = got.Rejected // only Submit promises what that counts
		case !exact:
			exact = v.model.Agrees(got.Workers, got.Idle)
		}
		want.Workers, want.Idle = got.Workers, got.Idle
		if got != want {
			m.fail("Stats of pool %d are\n%+v, want\n%+v", i, got, want)
		}
		if !exact {
			m.fail("the workers are others than there must be: %s", v.model.Workers())
		}
	}
}

func (m *poolMachine) actions() []action {
	var actions []action
	if m.view.lib != nil {
		actions = []action{
			{"submit", 4, m.at(false, m.submit)},
			{"cancel", 3, m.cancelContext},
			{"resize", 3, m.at(true, m.resize)},
			{"pause", 1, m.at(true, m.pause)},
			{"resume", 2, m.at(true, m.resume)},
			{"wait", 2, m.at(true, m.wait)},
			{"pass", 4, m.passTime},
			{"close", 1, m.at(true, m.close)},
			{"shutdown", 1, m.at(true, m.shutdown)},
		}
	}
	if len(m.groups) > 0 {
		return append(actions, m.groupActions()...)
	}
	actions = append(actions, []action{
		{"submitContext", 4, m.at(false, m.submitContext)},
		{"trySubmit", 4, m.at(false, m.trySubmit)},
		{"burst", 2, m.at(false, m.burst)},
		{"release", 10, m.release},
		{"panic", 2, m.panic},
		{"exit", 2, m.exit},
	}...)
	if m.plain != nil {
		actions = append(actions, action{"do", 4, m.at(true, m.do)}, action{"go", 4, m.at(false, m.goTask)})
	}
	switch {
	case m.once != nil:
		actions = append(actions, action{"once", 12, m.doOnce}, action{"once inside", 2, m.onceInside}, action{"forget", 1, m.forget})
	case m.plain != nil && len(m.views) == 1:
		actions = append(actions, action{"do inside", 1, m.doInside})
	}
	return actions
}

// finish lets all accepted tasks run, waits for all groups, and closes the pool.
func (m *poolMachine) finish() {
	m.step, m.closing = "the last step", 0
	for _, v := range m.views {
		if !v.isKey && v.lib != nil {
			v.model.Resume()
			v.lib.Resume()
			m.look()
		}
	}
	for _, k := range m.tasks {
		if k.model.State == model.Away {
			m.letBack(k)
			m.look()
		}
	}
	for live := m.live(); len(live) > 0; live = m.live() {
		m.letGo(live[0])
		m.look()
	}
	for _, g := range m.groups {
		m.waitFor(g)
		m.look()
	}
	if m.views[0].lib == nil {
		m.noWorkers()
	} else {
		m.close(m.t)
		m.look()
	}
	m.allOver()
}

// live returns the tasks that run, those first that started first.
func (m *poolMachine) live() (live []*task) {
	for _, k := range m.tasks {
		if k.model.State == model.Running {
			live = append(live, k)
		}
	}
	return live
}
