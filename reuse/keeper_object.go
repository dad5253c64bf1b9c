package reuse

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/tree"
)

// state is what happens to an object at the moment.
type state uint8

const (
	opening state = iota
	checking
	beating // its heartbeat runs
	idle
	leased
	closing
	states
)

// object holds one object of the user's, from before it is opened until after it is closed. The keeper makes
// a new one for each object of the user's, so that an old lease never matches.
type object[T any] struct {
	keeper *Keeper[T]
	turn   atomic.Uint64 // grows whenever the object is leased or given up
	value  T

	// Keeper.mu guards the fields below.
	state  state
	era    *era          // does not change
	dies   time.Duration // when its Lifetime is over
	used   time.Duration // when it was used last
	proved time.Duration // when it was last known to be good
	place  uint64        // order among the idle objects; heartbeats and checks do not change it

	// waiter is the waiter for which the object is being opened or checked, if any. adopted means that the
	// Open or Check was not begun for this waiter, so its failure is not reported to this waiter. It was
	// begun for no waiter, or for another user that has left or got another object meanwhile.
	waiter  *waiter[T]
	adopted bool

	link    fifo.Link[object[T]]      // in Keeper.stack or Keeper.spare
	late    tree.Node[key, object[T]] // in Keeper.late
	watched tree.Node[key, object[T]] // in Keeper.dues
}

// become puts the object into another state.
func (o *object[T]) become(s state) {
	k := o.keeper
	k.count[o.state]--
	k.count[s]++
	o.state = s
}

// open opens a new object for w, or for no waiter if w is nil.
func (k *Keeper[T]) open(w *waiter[T]) {
	o := &object[T]{keeper: k, state: opening, era: k.era}
	k.total++
	k.count[opening]++
	o.claim(w)
	go o.open(w.values())
}

// lease leases the object to its next user.
func (o *object[T]) lease() Lease[T] {
	o.become(leased)
	return Lease[T]{o, o.turn.Add(1)}
}

// outdated reports whether the object is no longer useful, since the keeper is closed or was reset.
func (o *object[T]) outdated() bool { return o.keeper.closed || o.era != o.keeper.era }

// reuse finds a use for a good object that no user holds. The object is not idle.
func (k *Keeper[T]) reuse(o *object[T], now time.Duration) {
	first := k.queue.first()
	switch {
	case o.outdated():
		o.disown()
		k.retire(o)
	case now >= o.dies:
		o.disown()
		k.totals.expired++
		k.retire(o)
	case first != nil && k.unproved(o):
		k.recheck(o)
	case first != nil:
		k.exchange(o, first)
		k.queue.remove(first)
		k.totals.gets++
		first.lease = o.lease()
		first.ready <- struct{}{}
	default:
		o.disown()
		k.rest(o)
	}
}

// unproved reports whether an object that was just put back, or whose heartbeat has just returned, needs a check
// before it is leased, as with a CheckAfter of 0. An object that was just opened or checked needs none.
func (k *Keeper[T]) unproved(o *object[T]) bool {
	return (o.state == leased || o.state == beating) && !k.fresh(o)
}

// recheck starts the check of an object that would go to a waiter without it. The check is for the first waiter
// for which no object is being opened or checked, or for none: the object goes to the waiter that is the first
// when the check has returned.
func (k *Keeper[T]) recheck(o *object[T]) {
	k.placed(o)
	o.become(checking)
	w := k.queue.unserved.First().Of()
	o.claim(w)
	go o.check(w.values())
}

// exchange makes o ready for w. If the keeper opened or checked o for another user, that user takes over the
// object that is being opened or checked for w.
func (k *Keeper[T]) exchange(o *object[T], w *waiter[T]) {
	owner, other := o.waiter, w.object
	o.disown()
	if owner == w || other == nil {
		return
	}
	other.disown()
	other.claim(owner)
	other.adopted = owner != nil
}

// claim records that the object is being opened or checked for w, or for no waiter if w is nil.
func (o *object[T]) claim(w *waiter[T]) {
	o.waiter, o.adopted = w, false
	k := o.keeper
	if w != nil {
		k.queue.serves(w, o)
		return
	}
	k.unclaimed++
	k.spare.Prepend(&o.link, o)
}

// disown ends the claim, if there is one: the object is ready, has failed, or gets another claim.
func (o *object[T]) disown() {
	switch {
	case o.waiter != nil:
		o.keeper.queue.serves(o.waiter, nil)
		o.waiter, o.adopted = nil, false
	case o.era != o.keeper.era: // Reset has disowned it
	case o.state == opening || o.state == checking:
		o.keeper.unclaimed--
		o.keeper.spare.Remove(&o.link)
	}
}

// abandon makes the object that is being opened or checked for w unclaimed.
func (k *Keeper[T]) abandon(w *waiter[T]) {
	if o := w.object; o != nil {
		o.disown()
		o.claim(nil)
	}
}

// retire starts to close an object that is neither idle nor claimed. The caller must then call serve for the
// waiters.
func (k *Keeper[T]) retire(o *object[T]) {
	o.become(closing)
	k.dues.Remove(&o.watched)
	if k.config.Close == nil {
		k.totals.closed++
		k.forget(o)
		return
	}
	go o.close()
}

// forget gives the object's place in the capacity back. The caller must then call serve for the waiters.
func (k *Keeper[T]) forget(o *object[T]) {
	var zero T
	o.value = zero // an old lease must not keep it alive
	k.dues.Remove(&o.watched)
	k.count[o.state]--
	k.total--
	if k.total == 0 {
		k.unwind()
	}
	k.unused()
	k.finish()
}

// finish lets the calls of Close return, if nothing is left.
func (k *Keeper[T]) finish() {
	if k.closed && k.total == 0 && k.reports == 0 {
		close(k.done)
	}
}

// opened stores the value of an object, and when it was opened.
func (o *object[T]) opened(value T, now time.Duration) {
	c := &o.keeper.config
	o.value = value
	o.used, o.proved, o.dies = now, now, never
	if c.Lifetime > 0 {
		o.dies = after(now, c.Lifetime-rand.N(c.Lifetime/10+1))
	}
}
