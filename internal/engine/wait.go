package engine

import "slices"

// never is a position that no task reaches.
const never = 1<<64 - 1

// wait is one call of Wait: until every task before position at has finished.
//
// First the queue must be taken up to that position. Engine.waitAt keeps workers
// from taking more before the crew has been scanned. So each worker that is
// not idle then is on a task before that position, or on none. It is marked,
// once, and reports when it next takes a task, or finds none: the one it was on
// is over. A worker marked while it took a task looks at its mark after that,
// and can tell by the task's position whether it was one of those.
//
// A worker marked for one wait that has not yet reported counts for
// every further one, too. So waits end in the order in which they began.
type wait struct {
	at      uint64
	scan    uint64 // its number; 0 until it is done
	pending int    // workers marked that have not reported yet
	over    chan struct{}
}

// Wait blocks until all tasks accepted before the call have finished (true), or
// until done is closed.
func (e *Engine[T]) Wait(done <-chan struct{}) bool {
	e.mu.Lock()
	// With the head gated nothing behind the tail is taken before waitAt is set.
	e.queue.setGates(true, e.queue.tailGated)
	w := &wait{at: e.queue.end(), over: make(chan struct{})}
	e.waits = append(e.waits, w)
	e.unlock()
	select {
	case <-w.over:
		return true
	case <-done:
	}
	e.mu.Lock()
	i := slices.Index(e.waits, w)
	if i >= 0 {
		e.waits = slices.Delete(e.waits, i, i+1)
	}
	e.unlock()
	return i < 0
}

// checkWaits scans for the waits whose tasks have all been taken, sets waitAt to
// the next, and ends those that no worker is marked for.
func (e *Engine[T]) checkWaits() {
	if len(e.waits) == 0 {
		if e.waitAt.Load() != never {
			e.waitAt.Store(never)
		}
		return
	}
	e.queue.shed()
	at := uint64(never)
	for _, w := range e.waits {
		if w.scan != 0 {
			continue
		}
		if e.queue.begin() < w.at {
			at = w.at
			break
		}
		e.scan(w)
	}
	if e.waitAt.Load() != at {
		e.waitAt.Store(at)
	}
	over := 0
	for over < len(e.waits) && e.waits[over].scan != 0 && e.waits[over].pending == 0 {
		close(e.waits[over].over)
		over++
	}
	e.waits = slices.Delete(e.waits, 0, over)
}

// scan marks the workers that may be on a task.
func (e *Engine[T]) scan(w *wait) {
	e.scans++
	w.scan = e.scans
	for _, c := range e.crew {
		if c.idle {
			continue
		}
		w.pending++
		if c.mark.Load() == 0 {
			c.mark.Store(w.scan)
		}
	}
}

// report takes w, which calls it, off the waits that it is marked for. behind is 0
// if w holds no task, else the position behind the task it holds: the first wait
// which that task precedes, and all later ones, go on waiting for w.
func (e *Engine[T]) report(w *worker[T], behind uint64) {
	mark := w.mark.Load()
	if mark == 0 {
		return
	}
	for _, wait := range e.waits {
		if wait.scan < mark {
			continue // not marked for it, or not scanned
		}
		if behind != 0 && behind <= wait.at {
			w.mark.Store(wait.scan)
			return
		}
		wait.pending--
	}
	w.mark.Store(0)
}
