package model_test

import (
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
	plain   *weir.Pool // nil for a FuncPool
	handler handlerKind
}

// handlerKind is what the pool does with panics.
type handlerKind int

const (
	recording handlerKind = iota
	noHandler
	panicking
)

func checkPool(t *rapid.T, funcPool bool) {
	m := &poolMachine{world: newWorld(t)}
	m.make(funcPool)
	defer m.end(func() { m.lib.Close() })
	m.step = "New"
	steps(t, m.actions(), func() { m.look(); m.steps++ })
	m.finish()
}

// make makes the pool, and its model, with random options.
func (m *poolMachine) make(funcPool bool) {
	t := m.t
	m.handler = oneOf(t, []handlerKind{recording, recording, noHandler, panicking}, "handler")
	m.closing = oneOf(t, []int{0, 10, 30, 60}, "steps before Close")
	p := &model.Pool{
		Limit:       between(t, 1, 4, "limit"),
		Queue:       oneOf(t, []int{0, 1, 2, 3, 4, weir.Unbounded, 4096}, "queue"),
		MaxWaiting:  oneOf(t, []int{math.MaxInt, math.MaxInt, 0, 1, 2}, "max waiting"),
		IdleTimeout: oneOf(t, []time.Duration{10 * time.Second, 0, time.Second, 1}, "idle timeout"),
	}
	// What is the default is not given.
	opts := []weir.Option{weir.Name("model")}
	if p.Queue != 4096 {
		opts = append(opts, weir.Queue(p.Queue))
	}
	if p.MaxWaiting != math.MaxInt {
		opts = append(opts, weir.MaxWaiting(p.MaxWaiting))
	}
	if p.IdleTimeout != 10*time.Second {
		opts = append(opts, weir.IdleTimeout(p.IdleTimeout))
	}
	if n := between(t, 0, p.Limit, "prestart"); n > 0 {
		p.Prestart(n)
		opts = append(opts, weir.Prestart(n))
	}
	if m.handler != noHandler {
		opts = append(opts, weir.OnPanic(m.onPanic))
	}
	m.pool = p
	if funcPool {
		m.lib = face.NewFunc(p.Limit, (*task).run, opts...)
	} else {
		pool := face.New(p.Limit, (*task).run, opts...)
		m.lib, m.plain = pool, pool.Pool
	}
}

// onPanic is the handler of the pool.
func (m *poolMachine) onPanic(p *weir.Panic) {
	b, ok := p.Value.(*boom)
	if !ok || p.Pool != "model" || len(p.Stack) == 0 {
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
	got, want := m.lib.Stats(), m.pool.Stats()
	exact := m.pool.Agrees(got.Workers, got.Idle)
	want.Workers, want.Idle = got.Workers, got.Idle
	if got != want {
		m.fail("Stats are\n%+v, want\n%+v", got, want)
	}
	if !exact {
		m.fail("the workers are others than there must be: %s", m.pool.Workers())
	}
}

func (m *poolMachine) actions() []action {
	actions := []action{
		{"submit", 4, m.submit},
		{"submitContext", 4, m.submitContext},
		{"trySubmit", 4, m.trySubmit},
		{"burst", 2, m.burst},
		{"release", 10, m.release},
		{"panic", 2, m.panic},
		{"exit", 2, m.exit},
		{"cancel", 3, m.cancelContext},
		{"resize", 3, m.resize},
		{"pause", 1, m.pause},
		{"resume", 2, m.resume},
		{"wait", 2, m.wait},
		{"pass", 4, m.passTime},
		{"close", 1, m.close},
		{"shutdown", 1, m.shutdown},
	}
	if m.plain != nil {
		actions = append(actions, action{"do", 4, m.do}, action{"do inside", 1, m.doInside})
	}
	return actions
}

// finish lets all accepted tasks run, and closes the pool.
func (m *poolMachine) finish() {
	m.step, m.closing = "the last step", 0
	m.pool.Resume()
	m.lib.Resume()
	m.look()
	for live := m.live(); len(live) > 0; live = m.live() {
		m.letGo(live[0])
		m.look()
	}
	m.close(m.t)
	m.look()
	m.allOver()
}

// live returns the tasks that run, those first that started first.
func (m *poolMachine) live() (live []*task) {
	for _, k := range m.tasks {
		if k.model.Live() {
			live = append(live, k)
		}
	}
	return live
}
