package engine

import (
	"sync/atomic"
	"time"
	"weak"
)

// expiry ends tasks that have been queued for too long. Each task has a mark then, with the time of its submission. A worker that comes to
// such a task does not run it; and while the queue is not empty a timer runs that takes those off its head which no worker comes to.
//
// Invariant: while the head of the queue holds a task the timer is armed, or a goroutine is about to arm it. A submitter that has written its slot
// looks at the timer; the timer clears armed, and then looks at the head. So one of the two sees the other.
type expiry struct {
	after  time.Duration
	timer  atomic.Uint32
	expire func() // the engine's, without a reference to it
}

// What the timer of an expiry is.
const (
	idle  = iota
	armed // it runs, or its goroutine looks at the queue
	stuck // idle, as a submitter was half-way through the slot at the head when the timer looked: that one arms it
)

// expiredAtOnce are taken off the queue before the lock is released for a moment.
const expiredAtOnce = 256

// soon is how long the timer runs at least when it is armed for the next task.
const soon = time.Millisecond

// see is called for each task that is queued, by its submitter, when it stands there.
func (x *expiry) see() {
	switch was := x.timer.Load(); {
	case was == armed || !x.timer.CompareAndSwap(was, armed):
	case was == stuck:
		time.AfterFunc(0, x.expire) // there may be tasks behind this one
	default:
		time.AfterFunc(x.after, x.expire)
	}
}

func newExpiry[T any](e *Engine[T]) *expiry {
	engine := weak.Make(e)
	return &expiry{after: e.Expiry.After, expire: func() {
		if e := engine.Value(); e != nil {
			e.expireQueued()
		}
	}}
}

// rests disarms the timer. tasks says that there are tasks in the queue.
func (x *expiry) rests(tasks bool) {
	if tasks {
		x.timer.Store(stuck)
	} else {
		x.timer.Store(idle)
	}
}

// isOver reports whether the task of k was queued for too long at that time of the meter's clock. Subtasks are never queued.
func (x *expiry) isOver(k mark, now int64) bool {
	at := k.submitted()
	return at != 0 && now-at >= int64(x.after)
}

// expired ends a task that w has come to too late.
func (e *Engine[T]) expired(w *worker[T], task T) {
	w.mark = 0
	e.HandedBack()
	e.Expiry.Expired(&w.Worker, task)
}

// expireQueued takes the tasks off the head of the queue that have been there for too long, and arms the timer for the next one.
func (e *Engine[T]) expireQueued() { e.expireRest(nil) }

// expireRest does that after it has ended the tasks that were taken already.
func (e *Engine[T]) expireRest(late []T) {
	over := false
	defer func() {
		if !over { // Expired has called runtime.Goexit
			go e.expireRest(late)
		}
	}()
	for {
		for len(late) > 0 {
			var task, none T
			task, late[0] = late[0], none
			late = late[1:]
			e.Expiry.Expired(nil, task)
		}
		if late = e.takeExpired(); len(late) == 0 {
			break
		}
	}
	over = true
}

// takeExpired takes some of them. Until it is called again calls of Wait and Close wait; if there are none, it sees to the timer.
func (e *Engine[T]) takeExpired() (late []T) {
	x := e.queue.meter.expiry
	e.mu.Lock()
	defer e.unlock()
	e.queue.setGates(true, e.queue.tailGated)
	for len(late) < expiredAtOnce {
		task, next, expired := e.headExpired()
		switch {
		case expired:
			e.handedBack++
			late = append(late, task)
			continue
		case len(late) > 0:
		case next > 0:
			time.AfterFunc(next, x.expire)
		default:
			x.rests(e.queue.len() > 0)
			if e.queue.ready() {
				x.see()
			}
		}
		break
	}
	e.expiring = len(late) > 0
	return late
}

// headExpired takes the task at the head of the queue, if it has expired. Else next is how long that may be from now; 0 if it holds none.
func (e *Engine[T]) headExpired() (task T, next time.Duration, expired bool) {
	m := e.queue.meter
	for {
		if e.queue.advance(); e.queue.len() == 0 {
			return task, 0, false
		}
		r := e.queue.head.Load()
		s, ok := r.holds(r.headAt())
		if !ok {
			return task, 0, false // a submitter is half-way
		}
		now, k := m.now(), mark(s.stamp.Load())
		void := e.Void != nil && e.Void(s.value)
		if !void && !m.expiry.isOver(k, now) {
			return task, max(time.Duration(k.submitted()-now)+m.expiry.after, soon), false
		}
		if task, _, _ = e.queue.pop(); !void {
			return task, 0, true
		}
		e.gone(task)
	}
}
