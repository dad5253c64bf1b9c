package engine

// next finds the next task for w. w holds a permit, and the token if searching. The order is orderRun if
// there is a task. If there is none and the worker must end, the order is orderQuit, and next returns under
// the lock. c belongs to the goroutine.
func (e *Engine) next(w *Worker, searching bool, c *contention) (task Task, o order) {
	for {
		if e.lane != nil && !searching && (w.leaves || e.givesWay(w)) {
			w.leaves = true
			return e.rest(w, false)
		}
		if w.detour.Load() {
			if task, ok := e.nextBelow(w); ok {
				return task, orderRun
			}
			if task, o = e.rest(w, searching); o == orderRun || o == orderQuit {
				return task, o
			}
			searching = o == orderSearch
			continue
		}
		if w.urgent {
			if w.finish(); e.lane != nil {
				continue // the report may have changed who has a claim to the place
			}
		}
		if r := e.queue.head.Load(); r != nil && (e.rated == nil || !r.gated() && e.ready() && e.rated.take()) {
			if c.some {
				c.backOff(w, r)
			}
			task, behind, k, took := r.pop(&e.waitAt, c)
			if took == moved {
				if k != 0 {
					w.mark = k
				}
				if w.free.Load() {
					w.free.Store(false)
				}
				// First release the token. A goroutine that closes the gate for subtasks, and finds the token
				// taken, relies on the token's holder to look at the gate.
				if searching {
					e.endSearch()
				}
				if e.asks(w) || r.gated() {
					e.attend(w, behind)
				}
				return task, orderRun
			}
			if e.rated != nil {
				e.rated.unused()
			}
		}
		c.reset()
		// The worker does not yield before it rests. Where other goroutines compute on all processors, a
		// worker that yields waits behind them for tens of milliseconds. While it has a permit or the token,
		// so does every task submitted meanwhile.
		switch task, o = e.rest(w, searching); o {
		case orderRun, orderQuit:
			return task, o
		default:
			searching = o == orderSearch
		}
	}
}

// endSearch releases the token, and then makes sure that no other task waits behind the one that the worker
// has found.
func (e *Engine) endSearch() {
	e.permits.endSearch()
	if e.available() && e.permits.wakeable() {
		e.stir()
	}
}

// nextBelow finds the next task for a worker whose place is lent to it, as long as its last task has open
// siblings. Until these are over, no waiter has to learn that the last task is over.
func (e *Engine) nextBelow(w *Worker) (task Task, ok bool) {
	p := w.place
	s := p.from // no other goroutine changes p.from while the worker is active
	if !w.urgent || s == nil || s.open.Load() == 0 {
		return task, false
	}
	e.mu.Lock()
	if p.beneath == nil || s.want.host == nil || p.waits > 0 || p.blocked > 0 || p.awaits.First() != nil || p.lost || len(s.crowded) > 0 || e.returning.First() != nil || e.isStopped() || !e.serves(w, s) {
		e.mu.Unlock()
		return task, false
	}
	if task, ok = s.claim(); !ok {
		e.mu.Unlock()
		return task, false
	}
	e.claimed(s)
	w.mark = e.subtaskMark()
	// A wait that asks w needs the end of the task beneath; the worker of that task was asked, too.
	if !e.asks(w) && s.void == nil {
		e.mu.Unlock()
		return task, true
	}
	e.report(w, 0)
	e.unlock()
	return task, true
}

// serves reports whether the task that lends its place to w waits for s.
func (e *Engine) serves(w *Worker, s *Subtasks) bool { return s.want.host == w.place.beneath }

// attend makes w report to the waits that ask it. If w took a task while the gate closed, attend also serves
// those that closed it. behind is the position behind the task of w, or 0 if w has none.
func (e *Engine) attend(w *Worker, behind uint64) {
	e.mu.Lock()
	e.report(w, behind)
	e.unlock()
	e.Begin(w)
}

// removeAndUnlock removes w from Engine.workers, and releases the lock.
func (e *Engine) removeAndUnlock(w *Worker) {
	e.leaving--
	e.remove(w)
	var rested func()
	if e.lane != nil {
		w.lands()
		w.detour.Store(false)
		e.lane.spare = w
		if len(e.workers) == 0 {
			rested = e.lane.rested
		}
	}
	e.unlock()
	if rested != nil {
		rested()
	}
}

// takeLocked takes the next task for w, a subtask if there is one. It is called under the lock.
func (e *Engine) takeLocked(w *Worker) (task Task, ok bool) {
	if task, from, ok := e.claim(); ok {
		w.take(from)
		w.mark = e.subtaskMark()
		return task, true
	}
	if e.hasBids() && e.takeBid(w) {
		return task, true
	}
	task, w.mark, ok = e.takeQueued()
	return task, ok
}

// takeQueued takes the oldest task from the queue. A queue of capacity 0 has none: then it takes the task of
// the first waiting submitter. k is the mark of the task, if the task is measured.
func (e *Engine) takeQueued() (task Task, k mark, ok bool) {
	if len(e.waits) > 0 {
		// Without the gate, other workers could take the last task before a wait's position between the two
		// looks at it. The pop below, which no position stops, could then take a task behind that position.
		e.queue.setGates(true, e.queue.tailGated)
	}
	e.checkWaits() // before anything behind their position is taken
	s := e.submitters.first()
	direct := s != nil && e.queue.capacity == 0
	if e.rated != nil && (!direct && !e.hasQueued() || !e.admits()) {
		return task, 0, false
	}
	if direct {
		task = s.value
		e.queue.pass()
		e.submitters.resolve(s, Accepted)
		return task, e.passes(), true
	}
	if task, k, ok = e.queue.pop(); !ok && e.rated != nil {
		e.rated.unused()
	}
	return task, k, ok
}
