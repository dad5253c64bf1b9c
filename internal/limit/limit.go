// Package limit is the counting limit of this module: it bounds how many may hold something at once. A caller
// that finds the limit reached joins a queue, and is served in the order of arrival.
//
// The package does not say how a caller waits, with two exceptions: Acquire blocks a plain goroutine, and
// TryAcquire never blocks. Other callers join with a Waiter of their own. The function passed to Release or
// Resize notifies them.
package limit

import (
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/fifo"
)

const (
	// crowded is subtracted from free while the queue is not empty. So free is then below 0, however much
	// room there is: no new caller overtakes a waiter, and a holder that releases learns that it must serve
	// the queue.
	crowded = 1 << 62

	// Most is the highest limit: with it, free - crowded is below every free without crowded.
	Most = 1 << 60
)

// Limit is a counting limit. Init must be called first.
//
//	free = limit - holders, and less by crowded exactly while waiters is not empty
//
// A caller that finds no room joins the queue in the same atomic step, so each later Release finds crowded
// set. A holder that finds crowded set serves as many waiters as it has released, if there is room. Hence no
// caller waits while there is room, except while a holder is about to serve it.
type Limit[W any] struct {
	free atomic.Int64 // below 0 also when the limit was lowered below the number of holders

	mu      sync.Mutex
	turn    sync.Cond // for Acquire
	limit   int64
	length  int // the length of waiters
	waiters fifo.List[Waiter[W]]
	unused  fifo.List[Waiter[W]] // see Waiter
}

// Waiter is the place of a caller in the queue of a Limit.
type Waiter[W any] struct {
	Value   W // belongs to the caller
	granted bool
	link    fifo.Link[Waiter[W]]
}

// Init sets the limit for the first time. A limit above Most is set to Most.
func (l *Limit[W]) Init(limit int) {
	l.limit = clamp(limit)
	l.free.Store(l.limit)
	l.turn.L = &l.mu
}

func clamp(limit int) int64 { return min(int64(limit), Most) }

// TryAcquire makes the caller a holder, if there is room and no caller waits.
func (l *Limit[W]) TryAcquire() bool {
	for {
		free := l.free.Load()
		if free <= 0 {
			return false
		}
		if l.free.CompareAndSwap(free, free-1) {
			return true
		}
	}
}

// Acquire blocks until there is room for the caller. It returns true if the caller is a holder. It returns
// false if another goroutine has served the caller: that goroutine's grant function has received value. A
// Limit with callers of Acquire must not have other waiters.
func (l *Limit[W]) Acquire(value W) (free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.enter() {
		return true
	}
	w := l.waiter()
	w.Value = value
	l.join(w)
	for !w.granted {
		l.turn.Wait() // signals come in the order of the calls of Wait, which is the order of the queue
	}
	var none W
	w.Value = none
	l.recycle(w)
	return false
}

// Waiter returns a recycled waiter, or a new one.
func (l *Limit[W]) Waiter() *Waiter[W] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiter()
}

func (l *Limit[W]) waiter() *Waiter[W] {
	first := l.unused.First()
	if first == nil {
		return new(Waiter[W])
	}
	w := first.Of()
	l.unused.Remove(first)
	return w
}

// Recycle keeps w for [Limit.Waiter]. w must not be in the queue, nor be notified later.
func (l *Limit[W]) Recycle(w *Waiter[W]) {
	l.mu.Lock()
	l.recycle(w)
	l.mu.Unlock()
}

func (l *Limit[W]) recycle(w *Waiter[W]) { l.unused.Prepend(&w.link, w) }

// Forget drops the recycled waiters.
func (l *Limit[W]) Forget() {
	l.mu.Lock()
	l.unused = fifo.List[Waiter[W]]{}
	l.mu.Unlock()
}

// First returns the waiter that has waited longest, or nil if none waits.
func (l *Limit[W]) First() *Waiter[W] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiters.First().Of()
}

// Join makes the caller a holder at once, or adds w to the queue. In the second case w is granted later,
// unless it withdraws.
func (l *Limit[W]) Join(w *Waiter[W]) (acquired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.enter() {
		return true
	}
	l.join(w)
	return false
}

// enter makes the caller a holder, or ensures that crowded is set. The caller holds mu.
func (l *Limit[W]) enter() bool {
	for l.waiters.First() == nil {
		free := l.free.Load()
		if free > 0 {
			if l.free.CompareAndSwap(free, free-1) {
				return true
			}
		} else if l.free.CompareAndSwap(free, free-crowded) {
			break
		}
	}
	return false
}

func (l *Limit[W]) join(w *Waiter[W]) {
	w.granted = false
	l.waiters.Append(&w.link, w)
	l.length++
}

// Withdraw removes w from the queue. If it returns true, w was granted before, and the caller is a holder.
func (l *Limit[W]) Withdraw(w *Waiter[W]) (granted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.granted {
		l.remove(w)
	}
	return w.granted
}

// Granted reports whether the caller of w, which was notified, is a holder. It is no holder if the limit was
// meanwhile lowered below the number of holders: then w is the first in the queue again.
func (l *Limit[W]) Granted(w *Waiter[W]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w.granted {
		old := l.free.Load()
		free, back := old, old+1
		if l.length > 0 {
			free += crowded
		} else {
			back -= crowded
		}
		if free >= 0 {
			break
		}
		if l.free.CompareAndSwap(old, back) {
			w.granted = false
			l.waiters.Prepend(&w.link, w)
			l.length++
		}
	}
	return w.granted
}

// Release ends n holders. It calls grant for each waiter that becomes a holder instead, before another
// goroutine can learn that from w. grant must not call the Limit.
func (l *Limit[W]) Release(n int, grant func(w *Waiter[W])) {
	if l.free.Add(int64(n)) < -crowded/2 {
		l.serve(int64(n), grant)
	}
}

// serve makes the first waiters holders: as many as there is room for, and at most n.
func (l *Limit[W]) serve(n int64, grant func(w *Waiter[W])) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; n > 0 && l.length > 0 && l.free.Load() > -crowded; n-- {
		w := l.waiters.First().Of()
		l.free.Add(-1)
		l.remove(w)
		w.granted = true
		grant(w)
		l.turn.Signal()
	}
}

// remove removes a waiter from the queue. The caller holds mu.
func (l *Limit[W]) remove(w *Waiter[W]) {
	l.waiters.Remove(&w.link)
	l.length--
	if l.length == 0 {
		l.free.Add(crowded)
	}
}

// Resize changes the limit. If the new limit is below the number of holders, the holders stay. Resize calls
// grant as Release does.
func (l *Limit[W]) Resize(limit int, grant func(w *Waiter[W])) {
	l.mu.Lock()
	more := clamp(limit) - l.limit
	l.limit += more
	free := l.free.Add(more)
	l.mu.Unlock()
	if free < -crowded/2 {
		l.serve(more, grant)
	}
}

// Limit returns the limit.
func (l *Limit[W]) Limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.limit)
}

// Waiting returns the length of the queue.
func (l *Limit[W]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.length
}

// Holders returns the number of holders.
func (l *Limit[W]) Holders() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.free.Load()
	if l.length > 0 {
		free += crowded
	}
	return int(l.limit - free)
}
