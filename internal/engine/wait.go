package engine

import "slices"

// never is a position that no task reaches.
const never = 1<<64 - 1

// wait is one call of Wait: until every task before position at has finished.
//
// First the queue must have been taken up to that position; the worker that
// does so sees waitAt. Then the crew is scanned, once: each worker that may be
// on an earlier task is marked, and reports when it changes its cell. The
// worker writes its cell and then looks at its mark, the scan marks and then
// looks at the cell, so no change goes unseen. Waits are dealt with one
// after the other: an earlier one can never be over later.
type wait struct {
	at      uint64
	scanned bool
	pending int // workers marked and not yet heard of
	over    chan struct{}
}

// Wait blocks until all tasks accepted before the call have finished (true), or
// until done is closed.
func (e *Engine[T]) Wait(done <-chan struct{}) bool {
	e.mu.Lock()
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
	if i < 0 {
		e.mu.Unlock()
		return true
	}
	e.waits = slices.Delete(e.waits, i, i+1)
	if i == 0 {
		e.waitAt.Store(never)
		e.epoch++ // marks that were made for it mean nothing any more
	}
	e.unlock()
	return false
}

// checkWaits goes on with the first wait as far as possible.
func (e *Engine[T]) checkWaits() {
	for len(e.waits) > 0 {
		w := e.waits[0]
		if !w.scanned {
			e.waitAt.Store(w.at)
			if e.queue.begin() < w.at {
				return
			}
			e.waitAt.Store(never)
			e.scan(w)
		}
		if w.pending > 0 {
			return
		}
		close(w.over)
		e.waits = slices.Delete(e.waits, 0, 1)
	}
}

// scan marks the workers that may be on a task of before w.at.
func (e *Engine[T]) scan(w *wait) {
	if e.epoch++; e.epoch == 0 {
		e.epoch = 1
	}
	w.scanned = true
	for _, c := range e.crew {
		c.mark.Store(e.epoch)
		if c.cell.Load() <= w.at { // unknown is
			w.pending++
		} else {
			c.mark.Store(0)
		}
	}
}

// report takes the mark off w, which calls it, unless it is on a task of before
// the wait that the mark was made for.
func (e *Engine[T]) report(w *worker[T]) {
	mark := w.mark.Load()
	if mark == 0 {
		return
	}
	if mark == e.epoch && len(e.waits) > 0 && e.waits[0].scanned {
		if cell := w.cell.Load(); cell != unknown && cell <= e.waits[0].at {
			return
		}
		e.waits[0].pending--
	}
	w.mark.Store(0)
}
