package reuse

import (
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/fifo"
)

// queue is the queue of waiting users: first come, first served. Keeper.mu guards all of it.
type queue[T any] struct {
	all      fifo.List[waiter[T]]
	unserved fifo.List[waiter[T]] // waiters for which no object is being opened or checked, in the order of the queue
	length   int
}

// waiter is a user in the queue. The goroutine that removes a waiter from the queue answers it: with a lease,
// an error or a panic.
type waiter[T any] struct {
	ctx      context.Context
	link     fifo.Link[waiter[T]] // in queue.all
	unserved fifo.Link[waiter[T]] // in queue.unserved
	object   *object[T]           // the object being opened or checked for the waiter
	ready    chan struct{}        // has capacity 1; signals that there is an answer
	idleness int                  // Keeper.idleness when ready was made

	// The answer.
	lease    Lease[T]
	err      error
	panicked *weir.Panic
}

// first returns the waiter that came first, or nil if the queue is empty.
func (q *queue[T]) first() *waiter[T] { return q.all.First().Of() }

// join puts w at the end of the queue.
func (q *queue[T]) join(w *waiter[T]) {
	q.all.Append(&w.link, w)
	q.unserved.Append(&w.unserved, w)
	q.length++
}

// remove takes w out of the queue.
func (q *queue[T]) remove(w *waiter[T]) {
	q.all.Remove(&w.link)
	q.unserved.Remove(&w.unserved)
	q.length--
}

// waits reports whether w is in the queue.
func (w *waiter[T]) waits() bool { return w.link.Of() != nil }

// serves records that o is being opened or checked for w, or, if o is nil, that no object is any more. A
// waiter that has lost its object goes before those that had none yet.
func (q *queue[T]) serves(w *waiter[T], o *object[T]) {
	if w.object = o; o != nil {
		q.unserved.Remove(&w.unserved)
	} else {
		q.unserved.Prepend(&w.unserved, w)
	}
}

// values returns the context whose values the functions get that run for w, or for no waiter if w is nil.
func (w *waiter[T]) values() context.Context {
	if w == nil {
		return context.Background()
	}
	return w.ctx
}

// refuse answers w with an error or a panic.
func (k *Keeper[T]) refuse(w *waiter[T], err error, panicked *weir.Panic) {
	k.queue.remove(w)
	w.err, w.panicked = err, panicked
	w.ready <- struct{}{}
}

// serve starts what is missing, as far as the capacity allows: an object for each waiter, and more up to
// MinIdle.
func (k *Keeper[T]) serve() {
	for w := k.queue.unserved.First().Of(); w != nil; w = k.queue.unserved.First().Of() {
		o := k.warmest()
		if o == nil && k.total >= k.config.Capacity {
			break
		}
		if o != nil {
			k.inspect(o, w)
		} else if o := k.spare.First().Of(); o != nil {
			o.disown()
			o.claim(w)
			o.adopted = true
		} else {
			k.open(w)
		}
	}
	if k.ready() < k.config.MinIdle {
		k.refill()
	}
}

// inspect starts the check of an idle object for w, or for no waiter if w is nil. An object that needs no
// check goes to the first waiter in the queue.
func (k *Keeper[T]) inspect(o *object[T], w *waiter[T]) {
	k.rouse(o)
	o.become(checking)
	o.claim(w)
	if k.fresh(o) {
		k.reuse(o, k.now())
		return
	}
	go o.check(w.values())
}
