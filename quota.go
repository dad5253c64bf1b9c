package weir

import (
	"math"
	"sync"
	"sync/atomic"
)

// quota is how many of a group's tasks may be queued or running. Each takes a token, and
// gives it back at its end. Who finds none waits in line at the channel.
//
//	limit + debt = tokens taken + tokens free (fresh or used)
//
// When the limit is lowered below what is taken, tokens are left over: the debt. While
// there is any, nobody gets a token to keep: who takes one pays with it, and so does
// who gives one back, if it sees the debt in time.
type quota struct {
	fresh   atomic.Int64  // free tokens not in the channel: to fill that with a million takes long
	used    chan struct{} // free tokens given back, or put there for those in line; sending never blocks
	debt    atomic.Int64
	waiting atomic.Int64 // those who wait at used

	mu    sync.Mutex // for resize
	limit int
}

func newQuota(limit int) *quota {
	// What has no size takes no room: the capacity costs nothing.
	q := &quota{used: make(chan struct{}, math.MaxInt), limit: limit}
	q.fresh.Store(int64(limit))
	return q
}

// try takes a token, if there is one.
func (q *quota) try() bool {
	for q.take() {
		if !q.pay() {
			return true
		}
	}
	return false
}

// wait takes a token, or reports false when done is closed before there is one.
func (q *quota) wait(done <-chan struct{}) bool {
	q.waiting.Add(1) // before the last look at fresh: see resize
	defer q.waiting.Add(-1)
	for !q.try() {
		select {
		case <-q.used:
			if !q.pay() {
				return true
			}
		case <-done:
			return false
		}
	}
	return true
}

// release gives n tokens back.
func (q *quota) release(n int) {
	for range n {
		q.put()
	}
}

// resize changes the limit, without waiting: what a lower one takes away and is still in use
// becomes debt.
func (q *quota) resize(limit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	more := int64(limit - q.limit)
	q.limit = limit
	if more < 0 {
		less := -more
		q.debt.Add(less - takeUpTo(&q.fresh, less))
		for q.debt.Load() > 0 && q.take() {
			q.put()
		}
		return
	}
	more -= takeUpTo(&q.debt, more)
	// Those in line come first. Who joins it later looks at fresh before it sleeps,
	// or is seen here.
	served := min(more, q.waiting.Load())
	q.release(int(served))
	q.fresh.Add(more - served)
	for ; served < q.waiting.Load() && takeUpTo(&q.fresh, 1) == 1; served++ {
		q.put()
	}
}

// take takes a free token, even if there is a debt.
func (q *quota) take() bool {
	if q.fresh.Load() > 0 && takeUpTo(&q.fresh, 1) == 1 {
		return true
	}
	select {
	case <-q.used:
		return true
	default:
		return false
	}
}

// put makes a token free, or pays with it.
func (q *quota) put() {
	if !q.pay() {
		q.used <- struct{}{}
	}
}

// pay destroys a token that the caller holds, if there is a debt.
func (q *quota) pay() bool {
	return q.debt.Load() > 0 && takeUpTo(&q.debt, 1) == 1
}

// takeUpTo lowers v by n, or by as much as there is, and returns by how much.
func takeUpTo(v *atomic.Int64, n int64) int64 {
	for {
		old := v.Load()
		n = min(n, old)
		if v.CompareAndSwap(old, old-n) {
			return n
		}
	}
}
