package weir

import (
	"math"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
)

// direct is the beginning of a group with workers of its own: its first tasks run on plain goroutines. Most groups have few
// tasks, and an engine and its workers cost more than those. A task beyond the limit waits for the end of another one, whose goroutine
// takes it along. The engine is made as soon as there are many tasks, or a task of the group uses the library with its context, and may have
// to lend its place. That task is adopted: its goroutine becomes a worker. The others that run by then have permits, and those that wait
// go on in the engine's queue. In a group that was made in a task no caller of Go waits without an engine, since it lends its place while it
// does; an engine that is made while that task waits for the group learns of the wait. A direct task that waits for a group of its own stays one,
// see batch_wait_direct.go.
//
// A direct task takes no lock unless one waits, as many begin and end at once: [engine.Tally] counts those that run, at most limit unless that was lowered.
// [engine.Tally.Switch] ends that, and says how many of them there are: each has a permit in the engine from then until its end, or until
// it is adopted.
//
// Invariant: while on is set the group has no engine. It is changed under Group.mu, once, when the engine is made and those permits are
// acquired. A goroutine that finds it unset may use the engine. One that learns of Switch takes the lock first. Wait, which makes workers
// end, looks at on under Group.mu.
type direct struct {
	on      atomic.Bool
	room    int32 // how many tasks may be accepted that wait for the end of a direct one; below 0 if none may wait there at all
	limit   atomic.Int64
	options *options         // nil for those of a NewGroup without any; under Group.mu, and used while on is set
	waiters fifo.List[batch] // of direct tasks that wait at the bells of these; under Group.mu
	waiting engine.DirectQueue
}

// directTasks is how many tasks of a batch run on plain goroutines. In a group whose queue may hold fewer, and where callers of Go therefore
// wait for the end of other tasks, all do: there the goroutine of the one that ends takes the next one along.
const directTasks = 32

// begins makes a group with workers of its own begin without an engine, if that makes no difference to its tasks.
func (g *Group) begins(limit int) {
	d := g.direct
	d.limit.Store(int64(limit))
	d.room = directTasks
	if o := d.options; o != nil {
		d.room = int32(min(o.queue, directTasks))
		if o.expiry > 0 || o.maxWaiting < math.MaxInt || g.at != nil && d.room < directTasks {
			d.room = -1 // those that wait need the engine; so does a task that waits for room, as it lends its place
		}
	}
	d.on.Store(true)
	if d.options != nil && d.options.needEngine() {
		g.ensureEngine()
	}
}

// needEngine reports whether a group with these options needs an engine from the start.
func (o *options) needEngine() bool {
	return o.prestart > 0 || o.labels != nil || o.crash || o.measure > 0 || o.handlers != nil && (o.handlers.onFull != nil || o.handlers.onSlow != nil)
}

// hasWorkers reports whether the group has an engine of its own.
func (g *Group) hasWorkers() bool { return g.direct != nil && !g.direct.on.Load() }

// resize sets the limit of a group with workers of its own.
func (g *Group) resize(limit int) {
	g.mu.Lock()
	on := g.direct.on.Load()
	g.direct.limit.Store(int64(limit))
	if b := g.batch.Load(); on && b != nil {
		for t, ok := g.direct.waiting.Begin(&b.tally, limit); ok; t, ok = g.direct.waiting.Begin(&b.tally, limit) {
			b.goDirectly(1, job{t})
		}
		if limit > engine.MostDirect && b.tally.IsWaitedFor() {
			g.makeEngine()
		}
	}
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
		o = newOptions(1)
	}
	o.limit = int(d.limit.Load())
	e := new(engine.Engine)
	g.pool.start(&o, e)
	if b := g.batch.Load(); b != nil {
		e.Numbered = uint16(min(b.tally.Begun(), math.MaxUint16)) // direct tasks have the first numbers
		d.waiting.Switch(&b.tally, e.Enter, func(t engine.Task, accepted bool) *engine.Standing {
			var want *engine.Want
			if b.subtasks != nil {
				want = b.subtasks.Want()
			}
			if accepted && e.Fits(t, want) {
				return nil
			}
			return e.Stand(t, want) // it is no matter whether there is room for a task that was accepted
		})
		if s := b.stay; s != nil && s.direct {
			s.direct = false
			e.Await(b.subtasks.Want(), s.task.worker, nil, nil) // no task above is of this group
		}
		if b.retires.Load() || b.subtasks != nil && b.waited.Taken() {
			e.Retire(&b.bell)
		}
	}
	d.options = nil
	d.on.Store(false)
	g.ringBells()
}

// engineMade waits for the engine, which another goroutine makes.
func (g *Group) engineMade() *engine.Engine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pool.core.engine
}

// adopt returns the worker of the task that has m, and makes its goroutine one if need be. It returns nil if the task is over.
// It is hidden from the race detector, as the task knows nothing of the caller of Go that made its member.
//
//go:norace
func (m *member) adopt() *engine.Worker {
	g, host := m.batch.group, m.self()
	g.mu.Lock()
	defer g.mu.Unlock()
	if host.direct && (host.acting == nil || host.acting == m) && !host.fate.Taken() {
		if g.direct.on.Load() {
			g.makeEngine()
		}
		g.pool.core.list() // as workers do when they begin: this one has begun by then
		if host.fate.Take() {
			host.adoptedBy(g.pool.core.engine.Adopt())
		}
	}
	return m.worker.Load()
}

// adoptedBy gives a running task its worker. It is hidden like adopt.
//
//go:norace
func (m *member) adoptedBy(w *engine.Worker) {
	b, acting := m.batch, m
	if m.acting != nil {
		acting = m.acting
	}
	b.tally.Adopt(b.subtasks == nil)
	b.mu.Lock()
	m.next, b.members = b.members, m
	b.mu.Unlock()
	if l := b.label; l != nil {
		w.Label.Store(&l.name)
	}
	w.Tenant.Store(&acting.tenant) // first: member.task looks at it as soon as there is a worker
	acting.worker.Store(w)
	m.worker.Store(w)
}

// runDirectly makes the task of j, which was counted in by that number, a direct one, if the group has no engine yet and needs none for
// it. Where the limit is reached the task waits for the end of another one; if there is no room for that, the caller waits. runDirectly
// reports false if the task has to go to the engine.
func (b *batch) runDirectly(number int, j job) bool {
	result, submitter := b.joinDirectly(number, j, true)
	switch result {
	case engine.DirectRefused:
		return false
	case engine.DirectBlocks:
		b.awaitTurn(number, j, submitter)
	}
	return true
}

// joinDirectly begins the task of j as a direct one, or lets it wait. With DirectRefused the group has an engine. The results are those of
// [engine.DirectQueue.Join].
func (b *batch) joinDirectly(number int, j job, mayBlock bool) (engine.DirectJoin, *engine.DirectSubmitter) {
	g := b.group
	d := g.direct
	if !d.on.Load() {
		return engine.DirectRefused, nil
	}
	if number >= directTasks && !d.staysDirect() {
		g.ensureEngine()
		return engine.DirectRefused, nil
	}
	if !b.tally.BeginDirect(int(d.limit.Load())) {
		return b.waitDirectly(number, j, mayBlock)
	}
	b.goDirectly(number, j)
	b.handedDirectly()
	return engine.DirectBegins, nil
}

// goDirectly runs a direct task on a goroutine of its own.
func (b *batch) goDirectly(number int, j job) {
	m := b.directMember(number)
	m.job = j
	go m.run()
}

// handedDirectly is accepted for a direct task.
func (b *batch) handedDirectly() {
	if b.intake.Handed() {
		b.notify(nil)
	}
}

// staysDirect reports whether tasks with high numbers are direct ones, too.
func (d *direct) staysDirect() bool {
	return 0 <= d.room && d.room < directTasks && d.limit.Load() <= engine.MostDirect
}

// waitDirectly is joinDirectly where the limit is reached. It is rare: see [Group.initInTask].
//
//go:noinline
func (b *batch) waitDirectly(number int, j job, mayBlock bool) (engine.DirectJoin, *engine.DirectSubmitter) {
	g := b.group
	d := g.direct
	if d.room < 0 {
		g.ensureEngine()
		return engine.DirectRefused, nil
	}
	result, submitter := d.waiting.Join(&b.tally, j.Task, d.limit.Load, int(d.room), mayBlock)
	switch result {
	case engine.DirectRefused:
		g.ensureEngine()
	case engine.DirectBegins:
		b.goDirectly(number, j)
		b.handedDirectly()
	case engine.DirectWaits:
		b.handedDirectly()
		if g.at != nil {
			g.queued()
		}
	}
	return result, submitter
}

// awaitTurn waits until the task of s is accepted, also by an engine that is made meanwhile, or the batch is cancelled.
func (b *batch) awaitTurn(number int, j job, s *engine.DirectSubmitter) {
	var standing *engine.Standing
	select {
	case standing = <-s.Turn:
	case <-b.done():
		if b.group.direct.waiting.Withdraw(&b.tally, s) {
			b.giveUpRoom(number)
			return
		}
		standing = <-s.Turn
	}
	if standing == nil {
		b.handedDirectly()
		return
	}
	b.handedOver(number, j, b.group.engineMade().AwaitRoom(standing, b.done()))
}

// needEngine is called before a task waits for something of the group, other than its end, and lends its place.
func (g *Group) needEngine() {
	if g.direct != nil {
		g.ensureEngine()
	}
}

// ensureEngine makes the engine, unless another call has.
func (g *Group) ensureEngine() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.direct.on.Load() {
		g.makeEngine()
	}
}

// directMember is hidden from the race detector like adopt.
//
//go:norace
func (b *batch) directMember(number int) *member {
	m := &b.first
	if number > 0 {
		m = &member{direct: true}
	}
	m.scope = &b.scope
	m.tenant.Self = m
	return m
}

// run runs a direct task, and those that have waited for its end. Then, if the goroutine has become that of a worker, it runs what the
// worker has to run.
func (m *member) run() {
	for m != nil {
		(*profileLabels)(nil).give() // a group with a name has an engine
		var w *engine.Worker
		if w, m = m.runs(); w != nil {
			w.GoOn() // not in runs, which keeps the task alive
		}
	}
}

// runs runs the direct task. It returns the worker of the goroutine, if there is one by then, or the member that has the task which is next.
func (m *member) runs() (w *engine.Worker, next *member) {
	b, j := m.batch, m.job
	m.job = job{}
	var labels *profileLabels
	var done func()
	if watched.Load() {
		labels, done = m.noteDirect(j.number())
	}
	over := false
	defer func() {
		if over {
			return
		}
		defer func() {
			switch w, next := b.endsDirectly(m, done); { // this goroutine may be about to exit
			case w != nil:
				go w.GoOn()
			case next != nil:
				go next.run()
			}
		}()
		defer b.release(1, nil)
		b.fails(j, recover())
	}()
	if !b.cancelled() {
		var err error
		if b.label == nil {
			err = j.call(m, nil)
		} else {
			err = b.callLabelled(m, nil, j, labels)
		}
		if err != nil {
			b.fail(j, err)
		}
	} else {
		b.tellOfRefusal(nil)
	}
	over = true
	b.release(1, nil)
	return b.endsDirectly(m, done)
}

// endsDirectly ends the task of m, of which noteDirect has returned done. Its results are those of runs.
func (b *batch) endsDirectly(m *member, done func()) (w *engine.Worker, next *member) {
	g := b.group
	if done != nil {
		done()
	}
	if !m.fate.Take() {
		g.engineMade()
		w = m.worker.Load()
		w.Label.Store(nil)
		b.credit(w)
		return w, nil
	}
	t, tell, end := g.direct.waiting.End(&b.tally, g.direct.limit.Load)
	switch end {
	case engine.DirectNext:
		if m.bells.Load() == 0 {
			m.fate.Renew() // the next task has the context of this one, as tasks on one worker have
		} else {
			m = b.directMember(1) // goroutines of the task wait that it has left behind: they must not wait in the name of the next one
		}
		m.job = job{t}
		return nil, m
	case engine.DirectSwitched:
		g.engineMade().Leave()
		tell = b.tally.EndSwitched()
	}
	if tell {
		b.notify(nil)
	}
	return nil, nil
}

// waitsIn notes that t, whose worker it has by now, waits for the batch, until the function that it returns is called.
func (b *batch) waitsIn(t task) (done func()) {
	b.leaveBell()
	b.stay.task = t
	return b.lends()
}

// lends notes that the task of b.stay waits for the batch, until the function that it returns is called. If the batch gets an engine meanwhile,
// that learns of it.
func (b *batch) lends() (done func()) {
	g, s := b.group, b.stay
	if g.direct == nil || s.task.pool == nil {
		return s.with(g.pool, b.subtasks.Want())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.direct.on.Load() {
		return s.with(g.pool, b.subtasks.Want())
	}
	s.direct = true
	return b.lendsNoMore
}

// lendsNoMore undoes lends for a batch that had no engine. An engine that was made for the next batch, while this one was ending, does not
// know of the wait.
func (b *batch) lendsNoMore() {
	g, s := b.group, b.stay
	g.mu.Lock()
	known := !s.direct
	s.direct = false
	g.mu.Unlock()
	if known {
		g.pool.core.engine.Unawait(b.subtasks.Want())
	}
}

// retire makes the workers of the group end when they find nothing to do, and the end of the last one ends Wait.
func (b *batch) retire() {
	if !b.setRetires(true) {
		b.group.pool.core.engine.Retire(&b.bell)
	}
}

// unretire undoes retire for a batch that is given up. With no worker left, each step of finish would ring the
// bell at which its caller waits.
func (b *batch) unretire() {
	if !b.setRetires(false) {
		b.group.pool.core.engine.Unretire()
	}
}

// setRetires says whether an engine that is made from now on retires its workers. It reports whether there is none
// yet.
func (b *batch) setRetires(retires bool) (direct bool) {
	g := b.group
	g.mu.Lock()
	b.retires.Store(retires)
	direct = g.direct.on.Load()
	g.mu.Unlock()
	return direct
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
