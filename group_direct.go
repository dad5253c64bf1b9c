package weir

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// direct is the beginning of a group with workers of its own: its first tasks run on plain goroutines. Most groups have few
// tasks, and an engine and its workers cost more than those. The engine is made as soon as a task has to wait for another, or
// there are many, or a task of the group uses the library with its context, and may have to lend its place. That task is adopted:
// its goroutine becomes a worker. The others that run by then have permits.
//
// Invariant, under Group.mu: while on is set the group has no engine, and running is how many of its tasks run, at most limit unless that
// was lowered. Each of them has one of members, whose direct is set. A task for which direct is set when the engine is made has a
// permit there, until its end or until it is adopted. A goroutine that finds on unset may use the engine, which is made before. Wait,
// which makes workers end, and the end of a task, which gives back what the task has, look at on under Group.mu.
type direct struct {
	on atomic.Bool // changed under Group.mu, once

	// The following are under Group.mu, and used while on is set.
	limit   int
	running int
	begun   int      // tasks of the batch
	options *options // nil for those of a NewGroup without any
	members *member  // of the batch
	spare   *member  // those of them without a task
}

// directTasks is how many tasks of a batch run on plain goroutines.
const directTasks = 12

// begins makes a group with workers of its own begin without an engine, if that makes no difference to its tasks.
func (g *Group) begins(o *options, given bool) {
	d := g.direct
	d.limit = o.limit
	if given {
		all := *o
		d.options = &all
	}
	d.on.Store(true)
	if g.at != nil || given && (o.prestart > 0 || o.name != "" || o.crash) {
		g.mu.Lock()
		g.makeEngine()
		g.mu.Unlock()
	}
}

// hasWorkers reports whether the group has an engine of its own.
func (g *Group) hasWorkers() bool { return g.direct != nil && !g.direct.on.Load() }

// renew forgets a batch that has ended.
func (d *direct) renew() { d.begun, d.members, d.spare = 0, nil, nil }

// resize sets the limit of a group with workers of its own.
func (g *Group) resize(limit int) {
	g.mu.Lock()
	on := g.direct.on.Load()
	g.direct.limit = limit
	g.mu.Unlock()
	if !on {
		g.pool.core.engine.Resize(limit)
	}
}

// makeEngine makes the engine. The caller holds mu.
func (g *Group) makeEngine() {
	d := g.direct
	var o options
	if d.options != nil {
		o = *d.options
	} else {
		o = newOptions(d.limit)
	}
	o.limit = d.limit
	e := new(engine.Engine[job])
	g.pool.start(&o, e)
	if b := g.batch.Load(); b != nil {
		b.mu.Lock()
		b.members, b.spare = d.members, d.spare
		b.mu.Unlock()
		e.Enter(d.running)
		if b.retires.Load() {
			e.Retire(b.stay.waiter.Turn)
		}
	}
	d.options, d.members, d.spare = nil, nil, nil
	d.on.Store(false)
}

// adoptedBy gives a running task its worker.
func (m *member) adoptedBy(w *engine.Worker) {
	m.direct = false
	acting := m
	if m.acting != nil {
		acting = m.acting
	}
	w.Tenant.Store(&acting.tenant) // first: member.task looks at it as soon as there is a worker
	acting.worker.Store(w)
	m.worker.Store(w)
}

// adopt returns the worker of the task that has m, and makes its goroutine one if need be. It returns nil if the task is over.
func (m *member) adopt() *engine.Worker {
	g, host := m.batch.group, m
	if m.of != nil {
		host = m.of
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if host.direct && (host.acting == nil || host.acting == m) {
		if g.direct.on.Load() {
			g.makeEngine()
		}
		host.adoptedBy(g.pool.core.engine.Adopt())
	}
	return m.worker.Load()
}

// runDirectly runs j on a goroutine of its own, if the group has no engine yet and needs none for it. Else it makes one, and reports
// false.
func (b *batch) runDirectly(j job) bool {
	d := b.group.direct
	if !d.on.Load() {
		return false
	}
	m := b.takeDirectly(d)
	if m == nil {
		return false
	}
	go m.run(j)
	if b.intake.Handed() {
		b.notify(nil)
	}
	return true
}

// takeDirectly returns a member for one more task, or makes the engine.
func (b *batch) takeDirectly(d *direct) *member {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !d.on.Load():
		return nil
	case d.running >= d.limit || d.begun >= directTasks || !b.tally.Enter():
		g.makeEngine()
		return nil
	}
	d.running++
	d.begun++
	m := d.spare
	switch {
	case m != nil:
		d.spare, m.spare = m.spare, nil
	case d.members == nil:
		m = &b.first
	default:
		m = new(member)
	}
	if m.scope == nil {
		m.scope, m.next = &b.scope, d.members
		m.tenant.Self = m
		d.members = m
	}
	m.direct = true
	return m
}

// run runs j, and then, if the goroutine has become that of a worker, what the worker has to run.
func (m *member) run(j job) {
	unlabel()
	if w := m.runs(j); w != nil {
		w.GoOn() // not in runs, which keeps the task alive
	}
}

// runs runs j, and returns the worker of the goroutine, if there is one by then.
func (m *member) runs(j job) *engine.Worker {
	b := m.batch
	over := false
	defer func() {
		if over {
			return
		}
		defer func() {
			if w := b.endsDirectly(m); w != nil {
				go w.GoOn() // this goroutine may be about to exit
			}
		}()
		defer b.release(1, nil)
		b.fails(j, recover())
	}()
	if !b.cancelled() {
		if err := j.call(m, nil); err != nil {
			b.fail(j, err)
		}
	}
	over = true
	b.release(1, nil)
	return b.endsDirectly(m)
}

// endsDirectly ends the task of m. It returns the worker of the goroutine, if that has become one.
func (b *batch) endsDirectly(m *member) *engine.Worker {
	g := b.group
	g.mu.Lock()
	if !m.direct {
		g.mu.Unlock()
		w := m.worker.Load()
		b.credit(w)
		return w
	}
	m.direct = false
	d := g.direct
	on := d.on.Load()
	if on {
		d.running--
		m.spare, d.spare = d.spare, m
	}
	g.mu.Unlock()
	if !on {
		g.pool.core.engine.Leave()
	}
	b.Ended(1, nil)
	return nil
}

// retire makes the workers of the group end when they find nothing to do, and the end of the last one ends Wait.
func (b *batch) retire() {
	g := b.group
	g.mu.Lock()
	b.retires.Store(true)
	on := g.direct.on.Load()
	g.mu.Unlock()
	if !on {
		g.pool.core.engine.Retire(b.stay.waiter.Turn)
	}
}

// finishDirectly is finish for a group without an engine, of which nothing is queued. It reports false if there is one.
func (b *batch) finishDirectly() (over, direct bool) {
	g := b.group
	if g.direct == nil {
		return false, false
	}
	g.mu.Lock() // no call of Go makes the engine meanwhile
	defer g.mu.Unlock()
	if !g.direct.on.Load() {
		return false, false
	}
	_, over = b.tally.Finish()
	return over, true
}
