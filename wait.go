package weir

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// await calls block, which waits until other goroutines have done something: run what want stands for in
// pool, if want is not nil. If t is not the zero task it is the one that calls, and its pool may lend its
// place meanwhile.
// block hands the Wakeup that it is given, which is nil for no task, to what ends the wait.
func (t task) await(pool *Pool, want *engine.Want, block func(*engine.Wakeup)) {
	if t.pool == nil {
		block(nil)
		return
	}
	s := stay{task: t}
	s.await(pool, want, block)
}

// await is [task.await] for the task of s. What block calls may use s.waiter.
func (s *stay) await(pool *Pool, want *engine.Want, block func(*engine.Wakeup)) {
	t := s.task
	defer s.with(pool, want)()
	e := t.pool.core.engine
	w := e.Wakeup()
	if race.Enabled {
		t.pool.core.turns.End()
		defer t.pool.core.turns.Begin()
	}
	e.Suspend(&s.waiter, t.worker, s.want)
	defer e.Return(&s.waiter, w)
	t.notifyAbove()
	block(w)
}

// stay is a wait of a goroutine, perhaps a task's, that ends when another one wakes it.
type stay struct {
	task   task           // whose wait it is; the zero task if the goroutine is no task's
	engine *engine.Engine // of the host, by which the stay is woken; nil if there is none
	waiter engine.Waiter
	want   *engine.Want // in the task's own pool
	direct bool         // under Group.mu: its task waits for a batch, and no engine knows that, see lends
}

// init makes a stay of which wake may be called from now on. e is the engine of the host; nil
// if there is none.
func (s *stay) init(e *engine.Engine) { s.waiter.Turn, s.engine = make(chan struct{}, 1), e }

// with notes what the task waits for, until the function that it returns is called.
func (s *stay) with(pool *Pool, want *engine.Want) (done func()) {
	switch {
	case want == nil || s.task.pool == nil:
	case pool == s.task.pool:
		s.want = want
	default:
		above, via := s.task.nearest(pool)
		pool.core.engine.Await(want, s.task.worker, above, via)
		return func() { pool.core.engine.Unawait(want) }
	}
	return func() {}
}

// wake ends the wait, or the next one if none is under way. A task that has waited may get the
// place of by, whose own task is over; wake reports whether it does.
func (s *stay) wake(by *engine.Worker) bool {
	if s.engine != nil {
		return s.engine.Recall(&s.waiter, by)
	}
	select {
	case s.waiter.Turn <- struct{}{}:
	default:
	}
	return false
}

// wait blocks until wake is called, or done is closed, and then reports false. With a function cut it goes
// on when done is closed, after a call of that. late provides done if a pause holds what the task
// waits for, or the task may have no place for it.
func (s *stay) wait(done <-chan struct{}, late func() <-chan struct{}, cut func()) (woken bool) {
	e, t := s.engine, s.task
	if t.host != nil {
		t = t.host.task() // none if it is over by now: its worker may have the next one, which does not wait
	}
	if race.Enabled && t.pool != nil {
		t.pool.core.turns.End()
		defer t.pool.core.turns.Begin()
	}
	if e != nil && !e.Suspend(&s.waiter, t.worker, s.want) {
		return true
	}
	t.notifyAbove()
	if s.waiter.Wait && done == nil && e.MustWatch(&s.waiter, s.want) {
		done = late()
	}
	if done == nil { // the usual case; a select takes three times as much code
		<-s.waiter.Turn
		return true
	}
	select {
	case <-s.waiter.Turn:
		return true
	case <-done:
	}
	if cut != nil {
		cut()
		<-s.waiter.Turn
		return true
	}
	if e != nil {
		e.Recall(&s.waiter, nil)
		<-s.waiter.Turn
	}
	return false
}

// until waits for the turn that ends a wait under way, or until one of the other channels is closed.
func (s *stay) until(done, cancelled <-chan struct{}) {
	select {
	case <-s.waiter.Turn:
		return
	case <-done:
	case <-cancelled:
	}
	s.engine.Recall(&s.waiter, nil)
	<-s.waiter.Turn
}

// arrive must be called after wait, before a look that may be followed by another wait.
func (s *stay) arrive() {
	if s.engine != nil {
		s.engine.Arrived(&s.waiter)
	}
}

// stay implements Stay of [inside.Task] for the hosts that hold t.
func (t task) stay(work, feeder any) inside.Stay {
	if t.pool == nil {
		return nil
	}
	v := &visibleStay{}
	v.task = t
	v.init(t.pool.core.engine)
	v.group, _ = work.(*Group)
	v.feeder, _ = feeder.(*Group)
	return v
}

// visibleStay is the stay of a task that waits for something of a group in another package.
type visibleStay struct {
	stay
	group, feeder *Group
}

func (v *visibleStay) Wait(done <-chan struct{}) {
	if v.group != nil {
		if b := v.group.current(); b.subtasks != nil { // also for tasks that are still to come
			v.group.needEngine()
			defer v.with(v.group.pool, b.subtasks.Want())()
		}
	}
	if v.feeder != nil {
		if b := v.feeder.batch.Load(); b != nil && b.subtasks != nil {
			defer b.waitsIn(v.task)()
		}
	}
	v.wait(done, nil, nil)
	v.arrive()
}

func (v *visibleStay) Wake(by inside.Task) bool {
	var worker *engine.Worker
	if h, ok := by.(host); ok {
		worker = h.task().worker
	}
	return v.wake(worker)
}
