package engine

import (
	"cmp"
	"slices"
)

// never is a position that no task reaches.
const never = 1<<64 - 1

// endsAtOnce is how many callers of Wait are woken in one hold of the lock, some 50 µs. The last of them wakes the next:
// a million of them at once would hold all other calls up for a second.
const endsAtOnce = 64

// wait is one call of Wait: it lasts until every task before position at has finished.
//
// First all those tasks must have been taken from the queue. Engine.waitAt keeps workers from taking more
// tasks before the wait has asked. So when the wait asks, each worker that is not idle is on a task before
// that position, or on none. The wait asks each of them to report. A worker reports when it next takes a
// task, or finds none: then its earlier task is over. To ask means to take the next number. Each worker knows
// the last number that it has seen, and compares. A worker that was asked while it took a task sees the
// number afterwards; by the task's position it can tell whether that task was one of those to wait for.
//
// A worker that has not reported for one wait has not reported for later waits either. So waits end in the
// order in which they began, and a worker needs to be counted for only one of them.
//
// Invariant, under Engine.mu: each worker that is not idle is counted once. It belongs to the first wait in
// Engine.waits that has asked with a later number than the worker has seen, and is counted in the pending of
// that wait. If there is no such wait, it is counted in Engine.unasked. So the next wait that asks has all of
// unasked to wait for, and a wait that leaves the list passes its workers on to the wait behind it. None of
// that looks at the workers, or at all waits; a report makes one binary search of the waits.
type wait struct {
	at      uint64
	number  uint64        // the number with which it has asked; 0 until then
	pending int32         // workers that belong to it and have not reported yet
	late    uint64        // how many tasks had expired when it asked: the calls for them must be over
	givenUp bool          // its caller has given up waiting
	ended   bool          // all those tasks have finished
	parked  bool          // the caller receives from over
	wakes   bool          // the caller wakes the next ones: see endsAtOnce
	over    chan struct{} // of capacity 1; made when a caller first parks here
}

// Wait blocks until all tasks accepted before the call have finished, or until done is closed. It reports
// whether they have finished.
func (e *Engine) Wait(done <-chan struct{}) bool {
	e.mu.Lock()
	quiet := e.quiet()
	// The head is gated, so no worker takes a task behind the tail before waitAt is set.
	e.queue.setGates(true, e.queue.tailGated)
	w := e.newWait()
	e.waits = append(e.waits, w)
	e.checkWaits()
	if quiet { // then unlock has next to nothing to do
		e.queue.setGates(false, e.queue.tailGated)
	}
	if w.ended {
		e.keepWait(w)
		e.unlock()
		return true
	}
	if w.parked = true; w.over == nil {
		w.over = make(chan struct{}, 1)
	}
	e.unlock()
	received := true
	if done == nil { // a select takes three times as much code
		<-w.over
	} else {
		select {
		case <-w.over:
		case <-done:
			received = false
		}
	}
	if received && !w.wakes { // many others may have been woken: they do not stand in line for the lock
		if e.mu.mutex().TryLock() {
			e.keepWait(w)
			e.mu.Unlock()
		}
		return true
	}
	e.mu.Lock()
	if received {
		e.keepWait(w)
		e.unlock()
		return true
	}
	ended := w.ended
	switch {
	case ended:
		<-w.over // there already: no wait under the lock
		e.keepWait(w)
	default:
		w.givenUp = true
		e.givenUp++
		// A wait that stays in the list delays nothing: the waits behind it wait for its workers, too.
		if 2*int(e.givenUp) >= len(e.waits) {
			e.forget()
		}
	}
	e.unlock()
	return ended
}

// newWait returns a wait for the tasks accepted so far.
func (e *Engine) newWait() *wait {
	w := e.spareWait
	if w == nil {
		w = new(wait)
	}
	e.spareWait = nil
	*w = wait{at: e.queue.tailPosition(), over: w.over}
	return w
}

// keepWait makes w, whose caller has received, ready for the next call. Without workers it is not kept; the
// spare submitters are not either.
func (e *Engine) keepWait(w *wait) {
	if len(e.workers) > 0 {
		e.spareWait = w
	}
}

// forget removes from the list the waits that were given up, and passes their workers on. It looks at all
// waits and removes at least half of them, so each removed wait costs two looks.
func (e *Engine) forget() {
	kept, asking, pending := e.waits[:0], 0, int32(0)
	for i, w := range e.waits {
		if w.givenUp {
			pending += w.pending
			continue
		}
		if i < e.asking {
			w.pending += pending
			asking, pending = asking+1, 0
		}
		kept = append(kept, w)
	}
	clear(e.waits[len(kept):])
	e.waits, e.asking, e.givenUp = kept, asking, 0
	e.unasked += pending
}

// checkWaits lets the waits ask whose tasks have all been taken, sets waitAt to the position of the next
// wait, and ends the waits for which no worker has to report. It reports whether there may be more room for
// tasks than before.
func (e *Engine) checkWaits() (room bool) {
	if len(e.waits) == 0 {
		if e.waitAt.Load() != never {
			e.waitAt.Store(never)
		}
		return false
	}
	if e.queue.headGated && (e.queue.dead.Load() > 0 || e.suspects) {
		room = e.queue.shed(e.Void, e.gone) // in a pause no worker takes them
	}
	at := uint64(never)
	for e.asking < len(e.waits) {
		w := e.waits[e.asking]
		if e.queue.headPosition() < w.at {
			at = w.at
			break
		}
		e.ask(w)
	}
	// waitAt is set last: a worker that finds it changed, and takes a task behind those waits, must see that
	// they have asked.
	if e.waitAt.Load() != at {
		e.waitAt.Store(at)
	}
	over, woken := 0, 0
	for _, told := e.lateTasks(); over < e.asking && woken < endsAtOnce && e.waits[over].pending == 0 && e.waits[over].late <= told; {
		w := e.waits[over]
		if !w.givenUp {
			woken++
		}
		w.ended, w.wakes = true, woken == endsAtOnce
		if w.parked {
			w.over <- struct{}{}
		}
		if w.givenUp {
			e.givenUp--
		}
		over++
	}
	e.asking -= over
	clear(e.waits[:over])
	if over < len(e.waits) {
		e.waits = e.waits[over:]
	} else {
		e.waits = e.waits[:0] // with its memory, for the next
	}
	return room
}

// ask asks the workers that may be on a task before w, except those that an earlier wait asks anyway. It
// passes over a worker that was woken to search and has not begun: all tasks before w have been taken, so
// that worker counts as if it had been woken afterwards.
func (e *Engine) ask(w *wait) {
	w.number = e.asked.Add(1)
	w.pending, e.unasked = e.unasked, 0
	if s := e.searcher.Swap(nil); s != nil {
		s.seen = w.number
		w.pending--
		e.unasked++
	}
	w.late, _ = e.lateTasks()
	e.asking++
}

// asks reports whether a wait, or a probe, asks w to report. The worker itself calls it.
func (e *Engine) asks(w *Worker) bool { return w.seen != e.asked.Load() }

// report removes w, which calls it, from the wait that counts it. behind is 0 if w holds no task, and
// otherwise the position behind its task. The first wait that the task precedes, and all later ones, go on
// waiting for w.
func (e *Engine) report(w *Worker, behind uint64) {
	if !e.asks(w) {
		return
	}
	waits := e.waits[:e.asking]
	first, _ := slices.BinarySearchFunc(waits, w.seen+1, byNumber)
	w.seen = e.asked.Load()
	if waits = waits[first:]; len(waits) == 0 {
		return
	}
	next := len(waits)
	if behind != 0 {
		next, _ = slices.BinarySearchFunc(waits, behind, byPosition)
	}
	waits[0].pending--
	if next == len(waits) {
		e.unasked++
		return
	}
	waits[next].pending++
	w.seen = waits[next].number - 1
}

func byNumber(w *wait, number uint64) int { return cmp.Compare(w.number, number) }
func byPosition(w *wait, at uint64) int   { return cmp.Compare(w.at, at) }

// engage makes w count as active: it may take a task without the lock, or gets one under the lock. Earlier
// waits do not concern it.
func (e *Engine) engage(w *Worker) {
	w.idle = false
	w.seen = e.asked.Load()
	e.unasked++
	e.candidate(w)
}

// begins is called by a worker that was ordered to search, before it searches. If a wait has passed it over
// meanwhile, that wait has changed w.seen under the lock, so begins takes the lock once.
func (e *Engine) begins(w *Worker) {
	if e.searcher.CompareAndSwap(w, nil) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
}

// withdraw makes w, which calls it, count as idle: no wait depends on w then.
func (e *Engine) withdraw(w *Worker) {
	w.idle = true
	if e.asks(w) {
		e.report(w, 0)
	}
	e.unasked--
}
