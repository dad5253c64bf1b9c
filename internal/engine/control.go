package engine

import "runtime"

// Start starts n workers, at most as many as are allowed.
func (e *Engine[T]) Start(n int) {
	e.mu.Lock()
	for range n {
		if !e.permits.tryEnter() {
			break
		}
		e.send(e.hire(), orderTake)
	}
	e.unlock()
}

// Resize sets the limit to n. When it returns, no task is taken while n or more
// run; it does not wait for those that do.
func (e *Engine[T]) Resize(n int) {
	e.mu.Lock()
	e.limit = n
	if !e.paused {
		e.permits.allow(min(n, maxAllowed))
	}
	e.spare = e.lent
	if excess := e.excess(); excess > 0 {
		e.quitIdle(min(excess, len(e.idle)))
	}
	e.unlock()
}

// Pause stops workers from taking tasks, until Resume or Close.
func (e *Engine[T]) Pause() {
	e.mu.Lock()
	if !e.closed {
		e.paused = true
		e.permits.allow(0)
		for _, s := range e.sources {
			e.recallLender(s)
		}
	}
	e.unlock()
}

// Resume undoes Pause.
func (e *Engine[T]) Resume() {
	e.mu.Lock()
	e.resumeLocked()
	e.unlock()
}

func (e *Engine[T]) resumeLocked() {
	if !e.paused {
		return
	}
	e.paused = false
	e.permits.allow(min(e.limit, maxAllowed))
	var vacant []*worker[T] // to lend one place may let another task go on
	for l := e.vacant.first; l != nil; l = l.next {
		vacant = append(vacant, l.of)
	}
	for _, w := range vacant {
		e.fill(w)
	}
}

// Close stops accepting, has everything run that was accepted, and returns when
// the last worker has ended.
func (e *Engine[T]) Close() { <-e.shut() }

// Shutdown is Close until done is closed. Then it takes the tasks off the queue
// that no worker has started, and returns them at once. If done is closed beforehand
// it does not end a pause, so that none of them starts.
func (e *Engine[T]) Shutdown(done <-chan struct{}) (unrun []T, finished bool) {
	select {
	case <-done:
		e.abandoned.Store(true)
	default:
	}
	over := e.shut()
	select {
	case <-over:
		return nil, true
	case <-done:
	}
	e.abandoned.Store(true)
	e.mu.Lock()
	for {
		task, _, ok := e.claim()
		if !ok {
			task, ok = e.queue.pop()
		}
		if ok {
			if e.Void != nil && e.Void(task) {
				e.queue.dead.Add(-1)
			} else {
				unrun = append(unrun, task)
				e.handedBack++
			}
			continue
		}
		if e.queue.len() == 0 {
			break
		}
		// A submitter was accepted but has not finished writing.
		e.mu.Unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
	e.unlock()
	select {
	case <-over:
		return unrun, len(unrun) == 0
	default:
		return unrun, false
	}
}

// shut closes the engine, and returns what is closed when it has come to rest.
func (e *Engine[T]) shut() <-chan struct{} {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		e.regate() // from here on no task is accepted
		e.finished = make(chan struct{})
		if !e.abandoned.Load() {
			e.resumeLocked()
		}
		for s := e.line.first; s != nil; s = e.line.first {
			e.line.leave(s, Closed)
		}
	}
	over := e.finished
	e.unlock()
	return over
}

// Dismiss ends the workers of an engine that has nothing to do, and returns when
// none is left. The engine stays open. Whoever begins to use it again says so, to
// inUse first and then by Revive, and the dismissal is off.
func (e *Engine[T]) Dismiss(inUse func() bool) {
	e.mu.Lock()
	if inUse() || e.deserted() {
		e.mu.Unlock()
		return
	}
	if e.dismissed == nil {
		e.dismissed = make(chan struct{})
	}
	over := e.dismissed
	e.unlock()
	<-over
}

// Revive ends a dismissal before the last worker has ended.
func (e *Engine[T]) Revive() {
	e.mu.Lock()
	if e.dismissed != nil {
		close(e.dismissed)
		e.dismissed = nil
	}
	e.unlock()
}

// deserted reports whether there is no worker and nobody on the way to the lock to
// start one: who has a permit but is no worker is.
func (e *Engine[T]) deserted() bool { return len(e.crew) == 0 && e.permits.active() == 0 }

// wind tells idle workers to end that are no longer wanted, and those who wait
// for the last to have ended.
func (e *Engine[T]) wind() {
	if e.dismissed != nil {
		e.quitIdle(len(e.idle))
		if e.deserted() {
			close(e.dismissed)
			e.dismissed = nil
		}
	}
	if !e.closed || e.queue.len() > 0 || e.delegating() {
		return
	}
	e.quitIdle(len(e.idle))
	if !e.deserted() {
		return
	}
	select {
	case <-e.finished:
	default:
		e.abandoned.Store(true)
		e.permits.allow(0) // nobody is woken any more
		close(e.finished)
	}
}

// Discard takes the queued tasks that match selects off the queue, never to be
// run, and returns their number. In their places stands the zero value, which
// takes no room but is in time given to Run.
func (e *Engine[T]) Discard(match func(T) bool) int {
	e.mu.Lock()
	e.queue.setGates(true, e.queue.tailGated) // nobody takes what is being looked at
	n := e.queue.discard(match)
	e.handedBack += uint64(n)
	e.unlock()
	return n
}

// Skipped notes that Run was given a task which is void.
func (e *Engine[T]) Skipped() { e.queue.dead.Add(-1) }

// Unqueued notes that a task which has started out of turn, or was dropped, will not come into the queue.
func (e *Engine[T]) Unqueued() {
	e.delegated.Add(1)
	e.queue.dead.Add(-1)
}

// HandedBack counts a task that Run was given but did not run.
func (e *Engine[T]) HandedBack() {
	e.mu.Lock()
	e.handedBack++
	e.mu.Unlock()
}

// Forgo notes that a task in the queue has become void without having started.
func (e *Engine[T]) Forgo() {
	e.mu.Lock()
	e.queue.dead.Add(1)
	e.handedBack++
	e.unlock() // there is room now
}

// Stats are counts at one moment; they are exact when nothing is under way.
type Stats struct {
	Limit, Workers, Running, Suspended, Returning, Extra, Idle, Queued, Waiting int
	Accepted, Finished, HandedBack, Rejected, Panicked                          uint64
}

// Stats counts.
func (e *Engine[T]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Stats{
		Limit:      e.limit,
		Workers:    len(e.crew),
		Idle:       len(e.idle),
		Waiting:    e.line.length,
		HandedBack: e.handedBack,
		Rejected:   e.rejected,
		Panicked:   e.panicked,
		Accepted:   e.queue.accepted(),
	}
	unfinished := 0
	for _, w := range e.crew {
		if !w.free.Load() {
			unfinished++
		}
	}
	s.Suspended = int(e.suspended)
	s.Returning = len(e.returning)
	s.Extra = max(0, e.permits.active()-e.limit)
	s.Running = max(0, unfinished-int(e.suspended))
	s.Queued = int(max(0, int64(s.Accepted-e.queue.taken())-e.queue.dead.Load()))
	s.Accepted += e.delegated.Load()
	for _, source := range e.sources {
		s.Queued += int(source.open.Load())
	}
	s.Finished = uint64(max(0, int64(s.Accepted-s.HandedBack)-int64(s.Queued)-int64(unfinished)))
	return s
}
