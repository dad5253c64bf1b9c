package reuse

import (
	"context"

	"github.com/64ed045f/weir"
)

// line is where users wait, first come, first served. All of it is under Keeper.mu.
type line[T any] struct {
	first, last *waiter[T]
	length      int
}

// waiter is a user in the line. Whoever takes one out of it answers: with a lease, an error or a
// panic.
type waiter[T any] struct {
	ctx        context.Context
	prev, next *waiter[T]
	waits      bool          // it is in the line
	object     *object[T]    // is being opened or checked for it
	ready      chan struct{} // of capacity 1: there is an answer
	idleness   int           // that of the keeper when ready was made

	// The answer.
	lease    Lease[T]
	err      error
	panicked *weir.Panic
}

// join puts w at the end of the line.
func (l *line[T]) join(w *waiter[T]) {
	w.waits = true
	w.prev = l.last
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	l.length++
}

// leave takes w out of the line.
func (l *line[T]) leave(w *waiter[T]) {
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	l.length--
	w.prev, w.next, w.waits = nil, nil, false
}

// unserved is the first in the line for whom nothing is under way.
func (l *line[T]) unserved() *waiter[T] {
	w := l.first
	for w != nil && w.object != nil {
		w = w.next
	}
	return w
}

// values is the context whose values functions get that run for w, or for nobody.
func (w *waiter[T]) values() context.Context {
	if w == nil {
		return context.Background()
	}
	return w.ctx
}

// refuse answers w with what has gone wrong.
func (k *Keeper[T]) refuse(w *waiter[T], err error, panicked *weir.Panic) {
	k.line.leave(w)
	w.err, w.panicked = err, panicked
	w.ready <- struct{}{}
}

// serve begins what is missing: an object for each who waits, and for nobody up to MinIdle, as far
// as the capacity allows.
func (k *Keeper[T]) serve() {
	for k.line.length > 0 && (k.warmest != nil || k.total < k.config.Capacity) {
		w := k.line.unserved()
		if w == nil {
			break
		}
		if o := k.warmest; o != nil {
			k.inspect(o, w)
		} else if o := k.spare; o != nil {
			o.disown()
			o.claim(w)
			o.adopted = true
		} else {
			k.begin(w)
		}
	}
	if k.ready() < k.config.MinIdle {
		k.refill()
	}
}

// inspect has an idle object checked for w, or for nobody. One that needs no check goes to the first
// in the line.
func (k *Keeper[T]) inspect(o *object[T], w *waiter[T]) {
	k.rouse(o)
	o.become(checking)
	o.claim(w)
	if k.fresh(o) {
		k.settle(o, k.now())
		return
	}
	go o.check(w.values())
}
