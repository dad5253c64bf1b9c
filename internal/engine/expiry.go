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

	// Under Engine.mu: how many tasks were taken, and of how many of those, the first ones, that was told. What is to be called for the others is in
	// tells, or about to be: calls of Wait and Close wait for that.
	taken, told uint64
	tells       []func() // nil where there is nothing to call
	telling     bool     // a goroutine calls them
}

// What the timer of an expiry is.
const (
	idle  = iota
	armed // it runs, or its goroutine looks at the queue
	stuck // idle, as a submitter was half-way through the slot at the head when the timer looked: that one arms it
)

// expiredAtOnce are taken off the queue before the lock is released for a moment.
const expiredAtOnce = 256

// mostTells may wait to be called: while a handler is so slow, only workers find tasks that have expired.
const mostTells = 1024

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

func newExpiry(e *Engine) *expiry {
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
	at := k.submitted(now)
	return k&marked != 0 && at != 0 && now-at >= int64(x.after)
}

// expired ends a task that w has come to too late.
func (e *Engine) expired(w *Worker, task Task) {
	w.mark = 0
	e.Untake()
	e.HandedBack()
	tell := e.Expiry.Expired(w, task)
	if tell == nil {
		return
	}
	e.mu.Lock()
	e.handedBack-- // until that is over, since the worker has the task so long
	e.mu.Unlock()
	w.tells = true // session goes on from there if the call ends the goroutine
	tell()
	w.hasTold()
}

// hasTold reports whether w was in a call of expired, which is over then.
func (w *Worker) hasTold() bool {
	if !w.tells {
		return false
	}
	w.tells = false
	w.engine.HandedBack()
	return true
}

// expireQueued takes the tasks off the head of the queue that have been there for too long, and arms the timer for the next one.
func (e *Engine) expireQueued() {
	for late := e.takeExpired(); len(late) > 0; late = e.takeExpired() {
		tells := make([]func(), len(late))
		for i, task := range late {
			tells[i] = e.Expiry.Expired(nil, task)
		}
		x := e.queue.meter.expiry
		e.mu.Lock()
		x.tells = append(x.tells, tells...)
		begins := !x.telling && x.next()
		x.telling = x.telling || begins
		e.unlock()
		if begins {
			go e.tell()
		}
	}
}

// next drops what there is nothing to call for, and reports whether there is something.
func (x *expiry) next() bool {
	for len(x.tells) > 0 && x.tells[0] == nil {
		x.tells = x.tells[1:]
		x.told++
	}
	return len(x.tells) > 0
}

// tell calls what is to be called for the tasks that were taken, one after the other.
func (e *Engine) tell() {
	for e.tellNext() {
	}
}

// tellNext reports whether there is more to call. If the call ends the goroutine, another one goes on.
func (e *Engine) tellNext() (more bool) {
	x := e.queue.meter.expiry
	e.mu.Lock()
	tell := x.tells[0]
	e.mu.Unlock()
	returned := false
	defer func() {
		e.mu.Lock()
		x.tells[0] = nil
		more = x.next()
		x.telling = more
		e.unlock()
		if more && !returned {
			go e.tell()
		}
	}()
	tell()
	returned = true
	return true
}

// lateTasks returns how many tasks have expired and of how many of those that was told.
func (e *Engine) lateTasks() (taken, told uint64) {
	if m := e.queue.meter; m != nil && m.expiry != nil {
		return m.expiry.taken, m.expiry.told
	}
	return 0, 0
}

// expiring reports whether there are tasks that have expired and of which that was not told.
func (e *Engine) expiring() bool {
	taken, told := e.lateTasks()
	return told < taken
}

// takeExpired takes some of them. If there are none, it sees to the timer.
func (e *Engine) takeExpired() (late []Task) {
	x := e.queue.meter.expiry
	e.mu.Lock()
	defer e.unlock()
	if len(x.tells) >= mostTells {
		time.AfterFunc(soon, x.expire)
		return nil
	}
	e.queue.setGates(true, e.queue.tailGated)
	for len(late) < expiredAtOnce {
		task, next, expired := e.headExpired()
		switch {
		case expired:
			e.handedBack++
			x.taken++
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
	return late
}

// headExpired takes the task at the head of the queue, if it has expired. Else next is how long that may be from now; 0 if it holds none.
func (e *Engine) headExpired() (task Task, next time.Duration, expired bool) {
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
			return task, max(time.Duration(k.submitted(now)-now)+m.expiry.after, soon), false
		}
		if task, _, _ = e.queue.pop(); !void {
			return task, 0, true
		}
		e.gone(task)
	}
}
