package engine

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/fifo"
)

// Want is work of an engine that tasks wait for: a set of subtasks, or a single task that is in the queue.
// The part of it that has not started may get the place of a task that waits.
//
// A place is lent in two cases. First, the task that waits has begun on the same engine. Then its own place
// goes to what it waits for, and to what that waits for in turn, as far as it is on this engine. Second, all
// tasks of the engine that have begun wait. Then any of their places goes to anything that a task waits for.
// Work that no task waits for never gets a place that is lent.
//
// A Want is part of a [Subtasks] or of a [SingleWant], whose Init makes it ready.
type Want struct {
	waits    atomic.Int32 // how many tasks, or goroutines of them, wait for it; changed under Engine.mu
	spent    bool         // the last look found no work in it: in awaits it stands behind those that may have some
	subtasks *Subtasks    // nil if it is that of a single task
	single   *SingleWant  // nil if it is that of subtasks

	host    *Worker  // the worker of the same engine whose task waits for it
	via     *[]*Want // the wants between w and the host's task; nil if that task waits for w itself; a pointer, as it is rare
	kin     *kinship // set if the nearest waiting task above is of another engine of the family
	awaited fifo.Link[Want]
	unbegun fifo.Link[Want] // in Engine.unbegun: some of it may not have started, or be back from GiveUp

	submitters fifo.List[submitter] // submitters that wait for room with a task of it, in order of arrival
}

// Single is a single task that others may wait for.
type Single struct {
	wants     fifo.List[SingleWant] // the waits for it
	entry     *SingleWant           // the one with which it was submitted; nil before it is in the queue or with a waiting submitter
	returning *Worker               // the task's worker, if the task has given its place up, wants to go on, and lacks a permit, here or further up
}

// SingleWant is a wait for a single task. It belongs to one task that waits, or to the caller that submits
// the single task for others to wait for. It must be made by Init.
type SingleWant struct {
	Want
	claimer Claimer
	of      *Single
	link    fifo.Link[SingleWant] // in of.wants
	// submitted says that the task was submitted before the wait.
	submitted bool
	// coming says that a task waits for w while the task of w is on its way to the queue, or to a submitter
	// that waits. Until it is there, the engine counts the waiting task as one that goes on: otherwise its
	// place could go to work for which it does not wait.
	coming bool
}

// Init prepares w for a wait for the task of claimer, whose Single is of. submitted says that the task was
// submitted before. Otherwise the caller must submit it with w, or with another want for it.
func (w *SingleWant) Init(claimer Claimer, of *Single, submitted bool) {
	w.claimer, w.of, w.submitted, w.single = claimer, of, submitted, w
}

// stands reports whether the task, if it has not started, is in the queue or with a waiting submitter. Then
// it may be claimed, and the engine knows what becomes void.
func (w *SingleWant) stands() bool { return w.submitted || w.of.entry != nil }

// Claimer is a single task that is in the queue or with a waiting submitter.
type Claimer interface {
	// Claim takes the task, unless it has started. What the queue holds for the task is void from then on.
	// Claim is called under the lock of the engine.
	Claim() (task Task, ok bool)
}

// work is what a place may be lent to: a subtask, another task, or a task that has given its place up and
// wants to go on.
type work struct {
	task      Task
	from      *Subtasks
	returning *Worker
	engine    *Engine // set if it is a lane below, or another engine of the family: a permit has been acquired there
}

// Await notes that the task on by, a worker of another engine, waits for w, until Unawait. above is the
// worker of the nearest task that waits for that task, by way of via, and has a place that may be lent to w: of
// e or, if by is of another family, of an engine of e's family. It is nil if there is none.
func (e *Engine) Await(w *Want, by, above *Worker, via []*Want) {
	e.mu.Lock()
	host := e.relate(w, by, nil)
	if host == nil && above != nil && w.host == nil {
		if host = e.relate(w, above, via); host != nil {
			w.via = &via
		}
	}
	e.await(w, host)
	e.unlock()
}

// Look lends the place of the task on w, if that task waits, to work that it waits for by way of other tasks.
func (e *Engine) Look(w *Worker) {
	e.mu.Lock()
	for w = e.own(w); w != nil; w = w.carrier { // which lends its place to work of other engines of the family
		if w.place != nil {
			w.engine.fill(w)
			w.engine.evict(w)
			w.engine.touch()
		}
	}
	e.unlock()
}

// Unawait ends an Await.
func (e *Engine) Unawait(w *Want) {
	e.mu.Lock()
	e.unawait(w)
	e.unlock()
}

// await notes that one more task, or goroutine of a task, waits for w. host is that task's worker, if it is a
// worker of e.
func (e *Engine) await(w *Want, host *Worker) {
	w.waits.Add(1)
	e.delays(w)
	if one := w.single; one != nil && one.link.Of() == nil {
		one.of.wants.Append(&one.link, one)
	}
	if host != nil && w.host == nil {
		w.host = host
		host.place.awaits.Prepend(&w.awaited, w)
		if s := w.subtasks; s != nil && w.via == nil {
			s.within = e.around(s, host)
		}
	}
	w.relist()
	e.offer(w)
}

// around returns the set that the task of host belongs to, which waits for s; nil if it belongs to none.
//
// Invariant: a set has a lower number than those within it. The subtasks of a set do not begin, and no task waits for it, before the task
// that hands them over has begun. But a goroutine that a task leaves behind just as it ends may wait in the name of the worker's next task, which
// may be any, even one of s itself.
func (e *Engine) around(s *Subtasks, host *Worker) *Subtasks {
	e.numbers(s)
	if from := host.place.from; from != nil && from.number < s.number {
		return from
	}
	return nil
}

// numbers gives s a number, when the first of its tasks begins or the first task waits for it.
func (e *Engine) numbers(s *Subtasks) {
	if s.number == 0 {
		e.sets++
		s.number = e.sets
	}
}

func (e *Engine) unawait(w *Want) {
	if w.waits.Add(-1) > 0 {
		return
	}
	e.unbegun.Remove(&w.unbegun)
	e.isStillNeedy()
	w.unrelate()
	e.comes(w)
	if w.single != nil {
		w.single.of.wants.Remove(&w.single.link)
	}
	if w.host != nil {
		e.unhost(w)
	}
}

// delays notes that a task waits for w, if one does and the task of w is still on its way.
func (e *Engine) delays(w *Want) {
	if s := w.single; s != nil && !s.stands() && !s.coming && w.waits.Load() > 0 {
		s.coming = true
		e.awaken()
	}
}

// comes notes that the task of w has come into the queue, or to a waiting submitter, or never will.
func (e *Engine) comes(w *Want) {
	if s := w.single; s != nil && s.coming {
		s.coming = false
		e.subside()
	}
}

// unhost notes that the host's task does not wait for w any more, or is over.
func (e *Engine) unhost(w *Want) {
	w.host.place.awaits.Remove(&w.awaited)
	w.host, w.via, w.spent = nil, nil, false
	if w.single == nil {
		e.dry(w.subtasks)
	}
}

// offer lends places to the work of w that has not started, or is back from GiveUp. The caller knows that there may be such work, and
// that a task waits for it.
func (e *Engine) offer(w *Want) {
	if w.unbegun.Of() == nil {
		e.unbegun.Prepend(&w.unbegun, w)
	}
	e.needs()
	e.look(w)
}

// look lends places to work of w, if the tasks that wait for w, or for what waits for w, have places to lend.
func (e *Engine) look(w *Want) {
	if k := w.kin; k != nil {
		above := k.host.engine
		above.fill(k.host)
		above.evict(k.host)
		above.touch()
	}
	for w.host != nil {
		w.spent = false
		awaits := &w.host.place.awaits
		awaits.Remove(&w.awaited)
		awaits.Prepend(&w.awaited, w)
		e.fill(w.host)
		e.evict(w.host)
		s := w.subtasks
		if s == nil || w.via != nil || s.within == nil || s.below.Of() != nil || !s.hasWork() {
			return
		}
		s.within.busy.Prepend(&s.below, s)
		w = &s.within.want
	}
}

// returning reports whether a task of w has given its place up and wants to go on.
func (w *Want) returning() bool {
	if w.single != nil {
		return w.single.of.back() != nil
	}
	return w.subtasks.back() != nil
}

// spend notes that there is no work in w, until the next call of look.
func (e *Engine) spend(w *Want) {
	w.spent = true
	awaits := &w.host.place.awaits
	awaits.Remove(&w.awaited)
	awaits.Append(&w.awaited, w)
}

// current reports whether the task of the host waits for w now, directly or by way of other tasks. A task
// between them may just be running.
func (w *Want) current() bool {
	return w.via == nil || allAwaited(*w.via)
}

// allAwaited reports whether tasks wait for all of the wants on the way to a task.
func allAwaited(via []*Want) bool {
	for _, v := range via {
		if v.waits.Load() == 0 {
			return false
		}
	}
	return true
}

// hasWork reports whether there is work in s, or in what the tasks of s wait for.
func (s *Subtasks) hasWork() bool { return s.hasOwn() || s.busy.First() != nil }

func (s *Subtasks) hasOwn() bool { return s.open.Load() > 0 || s.back() != nil }

// dry removes s from the busy sets of the set above, if s has no work any more for a task that waits, and so
// on upwards.
//
// Invariant: below a task whose place is vacant there is no work that may go on now; in a pause there may be
// tasks that have not started. look, which walks up from new work, relies on it: if s is among the busy sets
// already, no place above is vacant.
func (e *Engine) dry(s *Subtasks) {
	for s.below.Of() != nil && (s.want.host == nil || !s.hasWork()) {
		s.within.busy.Remove(&s.below)
		s = s.within
	}
}

// claimFrom finds work in w, or in what the tasks of w wait for. A task that goes on comes before one that
// begins; in a pause no task begins.
func (e *Engine) claimFrom(w *Want) (found work, ok bool) {
	if one := w.single; one != nil {
		switch found.returning = one.of.back(); {
		case found.returning != nil:
			return found, true
		case e.isStopped() || !one.stands():
			return found, false
		}
		if found.task, ok = one.claimer.Claim(); ok {
			e.outOfTurn(w)
		}
		return found, ok
	}
	s := w.subtasks
	for !s.hasOwn() && s.busy.First() != nil {
		s = s.busy.First().Of()
	}
	switch found.returning = s.back(); {
	case found.returning != nil:
		return found, true
	case e.isStopped():
		return found, false
	}
	found.from = s
	if found.task, ok = s.claim(); ok {
		e.claimed(s)
	}
	return found, ok
}

// claimed must follow each claim of a task of s.
func (e *Engine) claimed(s *Subtasks) {
	if s.void != nil {
		e.outOfTurn(&s.want)
	} else {
		e.dry(s)
	}
}

// outOfTurn accounts for a task that starts before its turn in the queue: one place there is void, or one
// submitter need not wait for room any more.
func (e *Engine) outOfTurn(w *Want) {
	if one := w.single; one != nil && one.of.entry != nil {
		w = &one.of.entry.Want
	}
	// Subtasks wait for room in the order of their numbers, behind those whose ticket is in the queue.
	l := w.submitters.First()
	if l == nil || !e.Void(l.Of().value) {
		e.died(1)
		return
	}
	if w := l.Of().wakeup; w != nil && w.Stays {
		l.Of().wakeup = nil
	}
	e.submitters.resolve(l.Of(), Accepted)
	e.delegated.Add(1)
}
