package engine

import (
	"sync/atomic"
	"time"
	"weak"
)

// expiry ends tasks that have been queued for too long. Each task has a mark then, with the time of its
// submission. A worker that comes to such a task does not run it. While the queue is not empty, a timer runs,
// which removes from its head the expired tasks that no worker comes to.
//
// Invariant: while the head of the queue holds a task, the timer is armed, or a goroutine is about to arm it.
// A submitter first writes its slot and then looks at the timer. The timer first clears armed and then looks
// at the head. So one of the two sees the other.
type expiry struct {
	after  time.Duration
	timer  atomic.Uint32
	expire func() // expires queued tasks of the engine; it holds only a weak pointer to it

	// Under Engine.mu. taken is how many expired tasks the timer has removed from the queue. told is how many
	// of these, oldest first, are reported: their call is over, or there was nothing to call. The calls for
	// the others are in tells, or about to be. Calls of Wait and Close wait for them.
	taken, told uint64
	tells       []func() // nil where there is nothing to call
	telling     bool     // a goroutine calls them
}

// States of the timer of an expiry.
const (
	idle  = iota
	armed // the timer runs, or its goroutine looks at the queue
	stuck // idle, but a submitter was half-way through the slot at the head when the timer looked: that submitter arms it
)

// expiredAtOnce is how many tasks are removed from the queue before the lock is released for a moment.
const expiredAtOnce = 256

// mostTells is how many calls may wait to be made. While a handler is so slow that this many wait, only
// workers find expired tasks.
const mostTells = 1024

// soon is the least time for which the timer is armed for the next task.
const soon = time.Millisecond

// see is called for each queued task by its submitter, after the submitter has written the slot.
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

// rests disarms the timer. tasks says whether there are tasks in the queue.
func (x *expiry) rests(tasks bool) {
	if tasks {
		x.timer.Store(stuck)
	} else {
		x.timer.Store(idle)
	}
}

// isOver reports whether the task of mark k had been queued for too long at the time now of the meter's
// clock. Subtasks are never queued.
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
	e.handedBack-- // until the call is over: the worker has the task until then
	e.mu.Unlock()
	w.tells = true // if the call ends the goroutine, session calls hasTold
	tell()
	w.hasTold()
}

// hasTold reports whether w was in a call of expired that is over now, and counts its task as handed back.
func (w *Worker) hasTold() bool {
	if !w.tells {
		return false
	}
	w.tells = false
	w.engine.HandedBack()
	return true
}

// expireQueued removes from the head of the queue the tasks that have been there for too long, and arms the
// timer for the next one.
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

// next drops the tasks for which there is nothing to call, and reports whether there is a call to make.
func (x *expiry) next() bool {
	for len(x.tells) > 0 && x.tells[0] == nil {
		x.tells = x.tells[1:]
		x.told++
	}
	return len(x.tells) > 0
}

// tell makes the calls for the tasks that were removed, one after the other.
func (e *Engine) tell() {
	for e.tellNext() {
	}
}

// tellNext makes one call, and reports whether there are more. If the call ends the goroutine, another
// goroutine goes on.
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

// lateTasks returns how many expired tasks the timer has removed from the queue, and how many of these are
// reported.
func (e *Engine) lateTasks() (taken, told uint64) {
	if m := e.queue.meter; m != nil && m.expiry != nil {
		return m.expiry.taken, m.expiry.told
	}
	return 0, 0
}

// expiring reports whether the timer has removed expired tasks that are not reported yet.
func (e *Engine) expiring() bool {
	taken, told := e.lateTasks()
	return told < taken
}

// takeExpired removes some expired tasks from the queue. If there are none, it arms or disarms the timer.
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

// headExpired removes the task at the head of the queue if it has expired. Otherwise next is the time until
// it may expire; 0 if the head holds no task.
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
