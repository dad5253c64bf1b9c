package weir

import (
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// quota is how many of a group's tasks may be queued or running. Each takes a token, and
// gives it back at its end. Who finds none waits, first come, first served.
//
//	limit = tokens taken + free
type quota struct {
	free    atomic.Int64 // below 0 when the limit was lowered below what is taken
	waiting atomic.Int64 // how many waiters there are, or are about to be

	mu          sync.Mutex
	limit       int
	first, last *quotaWaiter
	spare       *quotaWaiter // used places, until the batch ends
}

// quotaWaiter is a place in the line.
type quotaWaiter struct {
	stay
	served     bool
	prev, next *quotaWaiter
}

func newQuota(limit int) *quota {
	q := &quota{limit: limit}
	q.free.Store(int64(limit))
	return q
}

// try takes a token, if there is one for which no task waits.
func (q *quota) try() bool { return q.waiting.Load() == 0 && q.take() }

// take takes a token, if there is one.
func (q *quota) take() bool {
	for {
		n := q.free.Load()
		if n <= 0 {
			return false
		}
		if q.free.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// place returns a place in the line for a goroutine that may be t. at is where the host of the group
// runs, if it has one.
func (q *quota) place(t task, at *Pool) *quotaWaiter {
	q.mu.Lock()
	w := q.spare
	if w != nil {
		q.spare, w.next = w.next, nil
	}
	q.mu.Unlock()
	if w == nil {
		w = new(quotaWaiter)
		w.init(at)
	}
	w.task, w.served = t, false
	return w
}

// keep takes a place back that is not used any more, and will not be woken.
func (q *quota) keep(w *quotaWaiter) { w.prev, w.next, q.spare = nil, q.spare, w }

// forget drops the used places: their channels may belong to a test bubble that is about to end.
func (q *quota) forget() {
	q.mu.Lock()
	q.spare = nil
	q.mu.Unlock()
}

// wait takes a token, or reports false when done is closed before there is one.
func (q *quota) wait(w *quotaWaiter, done <-chan struct{}) bool {
	q.waiting.Add(1) // before serve looks at free: release does the opposite
	q.mu.Lock()
	if q.first == nil && q.take() {
		q.waiting.Add(-1)
		q.keep(w)
		q.mu.Unlock()
		return true
	}
	q.join(w)
	for {
		q.mu.Unlock()
		woken := w.wait(done, nil, nil)
		w.arrive()
		q.mu.Lock()
		switch {
		case woken && !w.served:
			continue // it was to look again
		case !woken && !w.served:
			q.leave(w)
		case w.served && q.free.Load() < 0:
			// The limit was lowered since: the token is not there any more.
			q.free.Add(1)
			w.served = false
			q.waiting.Add(1)
			q.rejoin(w)
			if woken {
				continue
			}
			q.leave(w)
		case woken:
			q.keep(w)
		}
		served := w.served // before another one uses w
		q.mu.Unlock()
		if served && closed(done) {
			q.release(1, nil) // what it is for will not run
			return false
		}
		return served
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// join puts w behind the others, rejoin before them.
func (q *quota) join(w *quotaWaiter) {
	w.prev = q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
}

func (q *quota) rejoin(w *quotaWaiter) {
	w.prev, w.next = nil, q.first
	if q.first == nil {
		q.last = w
	} else {
		q.first.prev = w
	}
	q.first = w
	q.serve(nil) // tokens may have come back before it stood here
}

// serve gives tokens to those who wait. The first of them that is a task may have the place of by.
func (q *quota) serve(by *engine.Worker) {
	for w := q.first; w != nil && q.take(); w = q.first {
		q.leave(w)
		w.served = true
		w.wake(by)
	}
}

func (q *quota) leave(w *quotaWaiter) {
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	q.waiting.Add(-1)
}

// release gives n tokens back.
func (q *quota) release(n int, by *engine.Worker) {
	q.free.Add(int64(n))
	if q.waiting.Load() > 0 {
		q.mu.Lock()
		q.serve(by)
		q.mu.Unlock()
	}
}

// resize changes the limit, without waiting.
func (q *quota) resize(limit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free.Add(int64(limit - q.limit))
	q.limit = limit
	q.serve(nil)
}
