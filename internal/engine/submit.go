package engine

import (
	"runtime"
	"time"
)

// A submitter that finds the queue full yields a few times before it waits for room. If tasks are shorter
// than a goroutine switch, the workers have then made room, and no submitter has to park.
//
// Where other goroutines compute on all processors, a yield lasts until each of them has had its 10 ms, while
// a submitter that the engine admits goes on before them. So after a yield that was long for what it brought,
// no submitter yields for ten times as long.
const (
	patience     = 8
	shortYield   = 100 * time.Microsecond
	yieldPerTask = 20 * time.Microsecond // far more than it costs to park
)

// Submit hands task over. It waits for room until done is closed, or without end if done is nil.
func (e *Engine) Submit(task Task, done <-chan struct{}) Verdict {
	if e.Offer(task) {
		return Accepted
	}
	return e.WaitForRoom(task, done, nil, nil)
}

// WaitForRoom is Submit for a task that Offer or OfferFor has refused, and that may start out of turn. If want is not
// nil, other tasks wait for it: want belongs to the set of subtasks that task is in, or stands for task alone. When
// task starts out of turn, WaitForRoom returns Accepted. wakeup belongs to the task that calls, and is nil if the
// caller is no task.
func (e *Engine) WaitForRoom(task Task, done <-chan struct{}, want *Want, wakeup *Wakeup) Verdict {
	for range patience {
		r := e.queue.tail.Load()
		if r == nil || len(r.slots) < e.queue.fullRing() || r.tail.Load()&(gate|retired) != 0 {
			break // only the slow way makes or grows a ring, or opens a gate
		}
		if !e.yield() {
			break
		}
		if e.pushFor(r, task, want) {
			return Accepted
		}
	}
	return e.standInLine(task, done, want, wakeup)
}

// first is Offer while the queue has no ring. It hands the first AtOnce tasks to workers of their own: a
// ring, and the search of its tasks, cost more than the tasks do. No other task is queued then, so these
// tasks overtake none. The task after them makes the ring.
func (e *Engine) first(task Task) bool {
	if e.queue.capacity == 0 {
		return false
	}
	e.mu.Lock()
	if e.closed || e.submitters.length > 0 { // as TrySubmit has it, which counts the refusal
		e.mu.Unlock()
		return false
	}
	if e.handed >= e.AtOnce || e.queue.tail.Load() != nil || !e.quiet() || e.waited() || !e.tryPlace() {
		ok := e.pushLocked(task) == moved
		e.unlock()
		return ok
	}
	e.handed++
	e.delegated.Add(1)
	w := e.recruit()
	w.hand, w.mark = task, e.passes()
	w.free.Store(false)
	if e.lane != nil {
		e.embark(w, orderRun, nil)
		e.unlock()
		return true
	}
	born := e.order(w, orderRun)
	e.mu.Unlock()
	if born {
		go w.work()
	}
	return true
}

// yield lets workers run, which may take tasks from the queue. It reports false at once if a yield took long
// lately, or if there is no queue yet.
func (e *Engine) yield() bool {
	from := e.queue.head.Load()
	begin := time.Since(e.clock)
	if from == nil || int64(begin) < e.hurried.Load() {
		return false
	}
	taken := from.count(from.headAt())
	runtime.Gosched()
	took := time.Since(e.clock) - begin
	if to := e.queue.head.Load(); took > shortYield && to != nil {
		taken = to.count(to.headAt()) - taken
		if took > yieldPerTask*time.Duration(taken) {
			e.hurried.Store(int64(begin + 11*took))
		}
	}
	return true
}

// Offer is the fast path of TrySubmit alone: false does not mean that there is no room.
func (e *Engine) Offer(task Task) bool {
	if r := e.queue.tail.Load(); r != nil {
		return e.push(r, task)
	}
	return e.first(task)
}

// OfferFor is Offer for a task that may start out of turn: see WaitForRoom.
func (e *Engine) OfferFor(task Task, want *Want) bool {
	switch r := e.queue.tail.Load(); {
	case r == nil:
		return want == nil && e.first(task)
	case want == nil: // most often, and pushFor would take more stack
		return e.push(r, task)
	default:
		return e.pushFor(r, task, want)
	}
}

// NoRoom reports whether a submitter that comes now has to wait, as far as NoRoom can tell without a look at
// each worker.
func (e *Engine) NoRoom() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q, permits := &e.queue, e.permits.word.Load()
	queued := int64(q.len()) - q.dead.Load()
	switch {
	case e.closed || e.submitters.length > 0:
		return !e.closed
	case queued < int64(q.capacity):
		return false
	case e.paused:
		return true
	default:
		return !e.hasRoom(permits) && !e.coming() && !e.between()
	}
}

// Fits hands task over if that needs no wait. Unlike TrySubmit it counts no refusal, and it may refuse
// because a worker is between two tasks. want is as for WaitForRoom.
func (e *Engine) Fits(task Task, want *Want) bool {
	if e.OfferFor(task, want) {
		return true
	}
	e.mu.Lock()
	fits := false
	if !e.closed && e.submitters.length == 0 {
		fits = e.pushWanted(task, want) == moved
		if !fits && e.queue.len() == 0 && !e.placeWanted() && !e.delegating() && !e.hasBids() && e.rated == nil && e.tryPlace() {
			fits = true
			e.delegated.Add(1)
			if want != nil && want.single != nil {
				e.enters(want.single)
			}
			e.assign(task, e.passes(), nil)
		}
	}
	e.unlock()
	return fits
}

// TrySubmit hands task over if there is room for it, or a free worker. want is as for WaitForRoom.
func (e *Engine) TrySubmit(task Task, want *Want) Verdict {
	if e.OfferFor(task, want) {
		return Accepted
	}
	for {
		e.mu.Lock()
		if verdict := e.tryLocked(task, want); verdict != waiting {
			return verdict
		}
		// A worker is between two tasks. TrySubmit tells its caller that there is no room only when it is
		// decided whether that worker takes a task from the queue.
		runtime.Gosched()
	}
}

// push is the fast path: it succeeds if r has a free slot and the gate at its tail is open.
func (e *Engine) push(r *ring, task Task) bool {
	if r.push(task, false) != moved {
		return false
	}
	if e.permits.wakeable() && !e.throttled() {
		e.stir()
	}
	return true
}

// pushFor is push for a task with want, if want is not nil.
func (e *Engine) pushFor(r *ring, task Task, want *Want) (ok bool) {
	if want == nil || want.subtasks == nil {
		ok = e.push(r, task)
	} else if ok = want.subtasks.pushTicket(r, task, e.Ticket); ok && e.permits.wakeable() && !e.throttled() {
		e.stir()
	}
	if ok && want != nil && (want.single != nil || want.waits.Load() > 0) {
		e.mu.Lock()
		e.stands(want)
		e.unlock()
	}
	return ok
}

// stands notes that the task of want is in the queue or with a waiting submitter, and offers it to the tasks
// that wait for it.
func (e *Engine) stands(want *Want) {
	if want.subtasks != nil {
		e.reoffer(want.subtasks)
		return
	}
	e.enters(want.single)
	for l := want.single.of.wants.First(); l != nil; {
		w := &l.Of().Want
		l = l.Next()
		e.offer(w)
	}
}

// enters is stands without the offers.
func (e *Engine) enters(w *SingleWant) {
	w.of.entry = w
	for l := w.of.wants.First(); l != nil; l = l.Next() {
		e.comes(&l.Of().Want)
	}
}

// ticket adds task to the subtasks of want, if it has subtasks, and returns what goes into the queue: the
// ticket, or task itself.
func (e *Engine) ticket(task Task, want *Want) (value Task, number uint64) {
	if want == nil || want.subtasks == nil {
		return task, 0
	}
	number = want.subtasks.add(task)
	return e.Ticket(task, number), number
}

// retract undoes ticket and stands for a task that was not accepted.
func (e *Engine) retract(w *Want, number uint64) {
	if w.subtasks != nil {
		w.subtasks.withdraw(number)
		return
	}
	one := w.single.of
	one.entry = nil
	for l := one.wants.First(); l != nil; l = l.Next() {
		e.delays(&l.Of().Want)
	}
}

// refuse removes s, whose task is not accepted, and gives it the verdict.
func (e *Engine) refuse(s *submitter, verdict Verdict) {
	if s.want != nil {
		e.retract(s.want, s.number)
	}
	e.submitters.resolve(s, verdict)
}

// pushWanted is pushLocked for a task with want, if want is not nil.
func (e *Engine) pushWanted(task Task, want *Want) outcome {
	value, number := e.ticket(task, want)
	o := e.pushLocked(value)
	switch {
	case want == nil:
	case o == moved:
		e.stands(want)
	default:
		e.retract(want, number)
	}
	return o
}

// join puts task behind the tasks of the other waiting submitters, closes the gates, and offers the task to
// those that wait for it.
func (e *Engine) join(task Task, want *Want) *submitter {
	value, number := e.ticket(task, want)
	s := e.submitters.join(value)
	e.regate()
	if want != nil {
		s.want, s.number = want, number
		want.submitters.Append(&s.inWant, s)
		e.stands(want)
	}
	return s
}

// pushLocked adds task to the queue, under the lock, unless the queue is full.
func (e *Engine) pushLocked(task Task) outcome {
	e.makeMeter()
	if e.lane != nil {
		e.reuseQueue()
	}
	o := e.queue.push(task)
	if o == none && e.suspects {
		if e.sweep(); e.halfway {
			return unsettled
		}
		o = e.queue.push(task)
	}
	return o
}

// serveAll is serve for a queue that serve must search for void tasks. If a submitter is half-way through a
// slot there, serveAll releases the lock and waits for it: that submitter may never come to the lock itself.
func (e *Engine) serveAll() {
	for {
		e.halfway = false
		if e.serve(); !e.halfway {
			return
		}
		e.unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
}

func (e *Engine) standInLine(task Task, done <-chan struct{}, want *Want, wakeup *Wakeup) Verdict {
	e.mu.Lock()
	for e.submitters.length >= e.MaxWaiting {
		if verdict := e.tryLocked(task, want); verdict != waiting {
			return verdict
		}
		runtime.Gosched()
		e.mu.Lock()
	}
	if e.closed {
		return e.reject(Closed)
	}
	if e.submitters.length == 0 && e.pushWanted(task, want) == moved {
		e.unlock()
		return Accepted
	}
	s := e.join(task, want)
	e.serveAll()
	if verdict := s.verdict; verdict != waiting {
		e.submitters.keep(s)
		if verdict != Accepted {
			e.rejected++
		}
		e.unlock()
		return verdict
	}
	e.submitters.park(s)
	s.wakeup = wakeup
	e.unlock()
	return e.awaitRoom(s, done)
}

// Standing is a task that waits for room while its submitter waits elsewhere: see Stand.
type Standing struct{ submitter *submitter }

// Stand makes a task wait for room in the place of its submitter, which calls AwaitRoom next. want is as for WaitForRoom.
func (e *Engine) Stand(task Task, want *Want) *Standing {
	e.mu.Lock()
	s := e.join(task, want)
	e.submitters.park(s)
	e.serveAll()
	e.unlock()
	return &Standing{s}
}

// AwaitRoom waits until the engine has accepted s, or done is closed.
func (e *Engine) AwaitRoom(s *Standing, done <-chan struct{}) Verdict {
	return e.awaitRoom(s.submitter, done)
}

// awaitRoom waits for the verdict of s.
func (e *Engine) awaitRoom(s *submitter, done <-chan struct{}) Verdict {
	var verdict Verdict
	select {
	case verdict = <-s.answer:
		e.mu.Lock()
	case <-done:
		e.mu.Lock()
		if s.verdict == waiting {
			e.refuse(s, Cancelled)
		}
		verdict = <-s.answer // there already: no wait under the lock
	}
	if len(e.workers) > 0 { // else remove has dropped the spares: their channels may belong to a bubble that ends
		e.submitters.keep(s)
	}
	if verdict != Accepted {
		e.rejected++
	}
	e.unlock()
	return verdict
}

// tryLocked makes one attempt to hand task over without waiting. It is called under the lock, which it
// releases in any case. It returns waiting if the answer is not settled yet.
func (e *Engine) tryLocked(task Task, want *Want) Verdict {
	switch {
	case e.closed:
		return e.reject(Closed)
	case e.submitters.length > 0:
		return e.reject(Full)
	}
	if e.pushWanted(task, want) == moved {
		e.unlock()
		return Accepted
	}
	// While a submitter waits, both gates are closed. Until tryLocked releases the lock, no other goroutine
	// adds or takes a task, so what it sees below is true at one moment.
	s := e.join(task, want)
	settled := e.serve()
	if s.verdict != Accepted {
		settled = settled && !e.coming() && !e.between()
		e.refuse(s, Full)
		if settled {
			e.rejected++
		}
	}
	verdict := s.verdict
	e.submitters.keep(s)
	e.unlock()
	if verdict == Full && !settled {
		return waiting
	}
	return verdict
}

// reject counts a refusal and releases the lock. Nothing else has changed, so the unlock method is not
// needed.
func (e *Engine) reject(verdict Verdict) Verdict {
	e.rejected++
	e.mu.Unlock()
	return verdict
}

// between reports whether it is known of some active worker that it holds no task. It looks only at
// candidates, and looks at a worker a second time only if the worker has become active or free since.
//
// Invariant: an active worker that is free, and of which other goroutines can know that, is a candidate. A
// worker becomes a candidate when it becomes active, under the lock. It stays one until between sees it idle
// or on a task. In the latter case the worker is relied upon: before it reports that its task is over, it
// comes to mayBeFree. The worker writes free and then looks at relied; between does it in the opposite order,
// so one of the two sees the other. A worker that goes from one task straight to the next is never free, and
// pays nothing.
func (e *Engine) between() bool {
	for e.candidates > 0 {
		w := e.workers[e.candidates-1]
		carried := w.carries != nil
		for w.carries != nil {
			w = w.carries
		}
		if w.idle && carried {
			return true // the worker that it carried is about to end
		}
		if !w.idle {
			w.relied.Store(true)
			if w.free.Load() {
				return true
			}
		}
		e.candidates--
	}
	return false
}

// mayBeFree makes w a candidate again, with the workers that carry it. A worker that was relied upon, and is
// free, calls it.
func (w *Worker) mayBeFree() {
	mu := &w.engine.mu
	mu.Lock()
	for ; w != nil; w = w.carrier {
		w.engine.candidate(w)
	}
	mu.Unlock()
}

// candidate makes w one of the workers that between looks at.
func (e *Engine) candidate(w *Worker) {
	if w.relied.Load() {
		w.relied.Store(false)
	}
	if w.index >= e.candidates {
		e.swap(w.index, e.candidates)
		e.candidates++
	}
}

// swap exchanges two workers in Engine.workers.
func (e *Engine) swap(i, j int32) {
	c := e.workers
	c[i], c[j] = c[j], c[i]
	c[i].index, c[j].index = i, j
}

// Reject counts a submission that the caller has refused itself.
func (e *Engine) Reject() {
	e.mu.Lock()
	e.reject(Cancelled)
}
