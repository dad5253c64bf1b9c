package reuse

import "time"

// Lease is the right to use one object of a [Keeper]. Its user must call exactly one of Put, Discard and
// Detach, once, which gives the lease up. A copy is the same lease: if one copy is given up, all are. Any
// method of a lease that was given up panics and changes nothing, even if another user has the object by
// then. So do the methods of the zero Lease. None of the methods blocks.
type Lease[T any] struct {
	object *object[T]
	turn   uint64
}

const leaseOver = "reuse: lease must not be used after Put, Discard or Detach"

// Value returns the object, which must not be used after the lease is given up.
func (l Lease[T]) Value() T {
	if l.of().turn.Load() != l.turn {
		panic(leaseOver)
	}
	return l.object.value
}

// Put gives the object back: to the user who has waited longest, or if none waits it becomes idle. With a Check
// and a CheckAfter of 0, the keeper first checks the object in the background, before that user gets it. If
// its Lifetime is over, or the keeper was reset or closed meanwhile, the keeper closes it in the background.
func (l Lease[T]) Put() {
	k := l.end()
	o := l.object
	var now time.Duration // unused if nothing is timed
	if k.timed {
		now = k.now()
		o.used, o.proved = now, now
	}
	k.reuse(o, now)
	if o.state == closing {
		k.serve()
	}
	k.mu.Unlock()
}

// Discard gives up an object that is or may be broken: the keeper closes it in the background. Then the
// keeper may open another object instead.
func (l Lease[T]) Discard() {
	k := l.end()
	k.totals.discarded++
	k.retire(l.object)
	k.serve()
	k.mu.Unlock()
}

// Detach removes the object from the keeper and returns it. The object no longer counts against the capacity,
// and the caller is responsible for closing it.
func (l Lease[T]) Detach() T {
	k := l.end()
	value := l.object.value
	k.totals.detached++
	k.forget(l.object)
	k.serve()
	k.mu.Unlock()
	return value
}

// end ends the lease, and leaves the keeper locked.
func (l Lease[T]) end() *Keeper[T] {
	k := l.of().keeper
	k.mu.Lock()
	if l.object.turn.Load() != l.turn {
		k.mu.Unlock()
		panic(leaseOver)
	}
	l.object.turn.Store(l.turn + 1)
	return k
}

func (l Lease[T]) of() *object[T] {
	must(l.object != nil, "lease must come from a Keeper", "the zero value")
	return l.object
}
