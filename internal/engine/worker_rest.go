package engine

import "time"

// rest is the slow way to a task. The worker takes a task under the lock, or parks until it gets a task, or
// the order to search or to end. With orderQuit rest returns under the lock.
func (e *Engine) rest(w *Worker, searching bool) (task Task, o order) {
	if !e.ending.Load() && e.lane == nil {
		w.makePlace()
	}
	w.rests = true
	w.finish()
	w.rests = false
	e.mu.Lock()
	if w.place == nil && w.recalls == nil && w.since == 0 && e.quiet() && !e.ready() { // what follows would find nothing
		e.withdraw(w)
		return e.releaseAndPark(w, searching)
	}
	if a := w.recalls; a != nil {
		w.recalls = nil
		e.recall(a, w)
	}
	e.ends(w)
	e.withdraw(w)
	has := e.endTask(w)
	if e.lanes != nil && w.since != 0 {
		e.lanes.charge(&e.lanes.own, w.since, e.root().now())
		w.since = 0
	}
	if e.lane != nil && has && (w.place == nil || w.place.beneath == nil) && (w.leaves || w.isLost() || w.borrows()) {
		return e.releaseAndPark(w, searching)
	}
	if !has {
		if searching { // a goroutine that the last task has left behind has given the place up meanwhile
			e.permits.endSearch()
		}
		return e.park(w) // without a permit
	}
	if p := w.place; p != nil && p.beneath != nil {
		if searching { // it has got this place since, for the one given up
			e.permits.endSearch()
		}
		return e.restBelow(w)
	}
	if !e.halted() && !e.placeWanted() {
		var ok bool
		if task, ok = e.takeLocked(w); ok {
			if w.carries == nil {
				e.engage(w)
				w.free.Store(false)
			}
			if searching {
				e.permits.endSearch()
			}
			e.unlock()
			return task, orderRun
		}
	}
	return e.releaseAndPark(w, searching)
}

// releaseAndPark makes w, which is idle, release its permit and park. The worker first releases the permit
// and the token, and then, in unlock, looks at the queue once more. A submitter does it in the opposite
// order, so one of the two sees the other. A goroutine that takes the permit finds w idle under the lock.
func (e *Engine) releaseAndPark(w *Worker, searching bool) (task Task, o order) {
	e.permits.release(searching)
	return e.park(w)
}

// restBelow is rest for a worker that has its place from a task that still waits.
func (e *Engine) restBelow(w *Worker) (task Task, o order) {
	b := w.place.beneath
	var found work
	ok := false
	if !w.isLost() { // work that w cannot run itself needs a carrier, and there is no place for one while w's carrier is not done
		found, ok = e.claimWork(b, e.lane != nil)
	}
	if ok && found.returning == nil && found.engine == nil {
		w.take(found.from)
		w.mark = e.subtaskMark()
		w.place.strange, w.place.moved = false, false
		e.engage(w)
		w.free.Store(false)
		if found.from != nil {
			e.eased(found.from)
		}
		e.unlock()
		return found.task, orderRun
	}
	e.unstack(w)
	w.detour.Store(false)
	e.vacate(b)
	if ok {
		e.lend(b, found)
	} else {
		e.fill(b)
	}
	for l := b.place.awaits.First(); l != nil && e.isStopped(); {
		s := l.Of().subtasks
		l = l.Next()
		if s != nil {
			e.recallWaiter(s)
		}
	}
	return e.park(w)
}

// park makes w, which holds no permit any more, wait for an order, or end. It releases the lock, except with
// orderQuit.
func (e *Engine) park(w *Worker) (task Task, o order) {
	if e.superfluous() {
		e.leaving++
		return task, orderQuit
	}
	w.makePlace() // it is most often made already
	e.idle = append(e.idle, w)
	e.foresee()
	e.arm(w)
	switch o = w.parked.wait(); o {
	case orderSearch:
		e.begins(w)
	case orderRun:
		task = w.takeHand()
	case orderQuit:
		e.mu.Lock()
	}
	return task, o
}

// depart ends w, which is counted in leaving. It releases the lock. The work method calls it directly: a
// goroutine that has run nothing but a small task then ends on the small stack that it was born with.
func (e *Engine) depart(w *Worker) {
	w.gone = true
	e.returnUnused()
	if e.End != nil {
		e.unlock() // others go on while End closes what the worker owns
		defer func() {
			if panicked := recover(); panicked != nil {
				w.goes()
				panic(panicked) // no goroutine may learn that w has ended while the program goes down
			}
			e.mu.Lock()
			e.removeAndUnlock(w)
		}()
		e.End(w)
		return
	}
	e.removeAndUnlock(w)
}

// superfluous reports whether a worker that has nothing to do must end instead of resting.
func (e *Engine) superfluous() bool {
	return e.lane != nil || e.IdleTimeout == 0 || e.excess() > 0 || e.dismissed != nil || e.retired != nil || e.ample() ||
		e.closed && e.queue.len() == 0 && !e.delegating()
}

// ample reports whether enough workers are idle, and none has come back for a second task since the last
// worker was born. Then many tasks came at once and are over. A worker that ends, and takes its stack with
// it, costs less then than one that parks.
func (e *Engine) ample() bool {
	return e.Parked > 0 && len(e.idle) >= int(e.Parked) && e.seconds() == e.again
}

// foresee notes whether workers that come to rest are unlikely to park. It is only a hint: rest makes the
// parking before it has the lock.
func (e *Engine) foresee() {
	if ending := e.closed || e.retired != nil || e.ample(); ending != e.ending.Load() {
		e.ending.Store(ending)
	}
}

// remove removes a worker from Engine.workers.
func (e *Engine) remove(w *Worker) {
	if w.index < e.candidates {
		e.candidates--
		e.swap(w.index, e.candidates)
	}
	last := len(e.workers) - 1
	e.swap(w.index, int32(last))
	e.workers[last] = nil
	e.workers = e.workers[:last]
	if len(e.workers) > 0 {
		return
	}
	if e.lane != nil {
		e.rests()
	}
	// Nothing that lasts may refer to an engine without workers. Nor may the engine refer to a timer or a
	// channel that may belong to a test bubble about to end.
	if e.armed {
		e.timer.Stop()
	}
	e.armed, e.timer = false, nil
	e.spare = 0
	e.submitters.dropSpares()
	e.spareWait = nil
	e.handed = 0
	if e.dismissed == nil { // a dismissed engine is soon used again
		if e.lane == nil || cap(e.workers) > 1 { // most lanes have one worker again and again
			e.workers = nil
		}
		e.idle = nil
		if e.lane != nil {
			e.freeQueue()
		} else {
			e.queue.freeMemory()
		}
	}
}

// excess is by how much the workers that stay exceed the limit and the spare workers, which waiting tasks
// need beyond it.
func (e *Engine) excess() int { return len(e.workers) - int(e.leaving) - int(e.spare) - e.limit }

// quitIdle ends the n workers that have been idle for longest.
func (e *Engine) quitIdle(n int) {
	e.leaving += int32(n)
	for _, w := range e.idle[:n] {
		w.parked.give(orderQuit)
	}
	if 2*n < len(e.idle) { // of a million few at a time: to move the rest each time would take a second
		clear(e.idle[:n])
		e.idle = e.idle[n:]
	} else {
		rest := copy(e.idle, e.idle[n:])
		clear(e.idle[rest:])
		e.idle = e.idle[:rest]
	}
	e.foresee()
}

// arm starts the timer that ends idle workers, unless it runs. One timer serves the whole engine, and runs
// only while there are workers. The first worker to rest makes a new timer instead of resetting the old one:
// that worker may live in another test bubble than the last one.
func (e *Engine) arm(w *Worker) {
	w.since = time.Since(e.clock)
	e.refreshMeter(w.since)
	if !e.armed {
		e.armed = true
		e.timer = time.AfterFunc(e.IdleTimeout, e.expire)
	}
}

// quitsAtOnce is how many idle workers an engine that goes on ends in one hold of the lock, which takes some 0.5 ms.
const quitsAtOnce = 1024

// expire ends the workers whose idle time is over. They are at the bottom of the stack of idle workers, since
// the engine wakes the newest first. If they are many, the timer is due again at once.
func (e *Engine) expire() {
	e.mu.Lock()
	if !e.armed { // the timer was stopped too late
		e.mu.Unlock()
		return
	}
	now := time.Since(e.clock)
	e.refreshMeter(now)
	n := 0
	for n < min(len(e.idle), quitsAtOnce) && now-e.idle[n].since >= e.IdleTimeout {
		n++
	}
	e.quitIdle(n)
	e.spare = e.lent
	if e.armed = len(e.idle) > 0; e.armed {
		e.timer.Reset(e.idle[0].since + e.IdleTimeout - now)
	}
	e.unlock()
}
