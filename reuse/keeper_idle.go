package reuse

import "time"

// The idle objects are ordered by their last use. Most come back as the warmest, and go to Keeper.stack. An
// object that was away for a heartbeat or a check may find warmer objects there, and then goes to
// Keeper.late.

// warmest returns the idle object that was put back or opened last, or nil if none is idle.
func (k *Keeper[T]) warmest() *object[T] {
	o := k.stack.First().Of()
	if l := k.late.Last(); l != nil && (o == nil || l.Of().place > o.place) {
		return l.Of()
	}
	return o
}

// alive returns the warmest object whose Lifetime is not over. It closes warmer objects that upkeep has not
// closed yet.
func (k *Keeper[T]) alive() *object[T] {
	o := k.warmest()
	for o != nil && k.config.Lifetime > 0 && k.now() >= o.dies {
		k.expire(o)
		k.serve()
		o = k.warmest()
	}
	return o
}

// coldest returns the idle object that was put back or opened first, or nil if none is idle.
func (k *Keeper[T]) coldest() *object[T] {
	o := k.stack.Last().Of()
	if l := k.late.First(); l != nil && (o == nil || l.Of().place < o.place) {
		return l.Of()
	}
	return o
}

// rest makes the object idle. The object is the warmest, unless it was idle before and others were used
// since.
func (k *Keeper[T]) rest(o *object[T]) {
	k.placed(o)
	o.become(idle)
	k.unused()
	if warmer := k.stack.First().Of(); warmer != nil && warmer.place > o.place {
		k.late.Add(&o.late, o, key{place: o.place})
	} else {
		k.stack.Prepend(&o.link, o)
	}
	if k.timed {
		k.watch(o)
		k.wakeAt(k.nextExpiry())
	}
}

// placed notes that the object was put back or opened, if that is so: a heartbeat or a check does not change its
// place. It precedes become.
func (k *Keeper[T]) placed(o *object[T]) {
	if o.state == leased || o.state == opening {
		k.places++
		o.place = k.places
	}
}

// unused counts the times when no object is in use: the next user may be in another synctest bubble.
func (k *Keeper[T]) unused() {
	if k.count[idle] == k.total {
		k.idleness++
	}
}

// rouse removes the object from the idle ones.
func (k *Keeper[T]) rouse(o *object[T]) {
	k.stack.Remove(&o.link)
	k.late.Remove(&o.late)
}

// nextExpiry returns when the IdleTimeout of the coldest object is over, or never if that object stays.
func (k *Keeper[T]) nextExpiry() time.Duration {
	if k.config.IdleTimeout == 0 || k.count[idle] <= k.config.MinIdle {
		return never
	}
	return after(k.coldest().used, k.config.IdleTimeout)
}

// watch makes upkeep look at the object when its Lifetime is over, or its heartbeat is due. Upkeep may look
// too early, or at an object that is in use. Then it looks again when there is a reason to. So an object that
// users lease and put back again and again keeps its place in Keeper.dues.
func (k *Keeper[T]) watch(o *object[T]) {
	if o.watched.Of() != nil {
		return
	}
	if at := k.due(o); at < never {
		k.dues.Add(&o.watched, o, key{at, o.place})
		k.wakeAt(at)
	}
}

// due returns when the Lifetime of an idle object is over, or when its heartbeat must begin, whichever is
// first.
func (k *Keeper[T]) due(o *object[T]) time.Duration {
	if k.config.Heartbeat == nil {
		return o.dies
	}
	return min(o.dies, after(o.proved, k.config.HeartbeatEvery))
}

// key is the position of an object in a tree: by a time, in trees that use it, and then by the object's
// place.
type key struct {
	time  time.Duration
	place uint64
}

// Before implements [tree.Key].
func (k key) Before(other key) bool {
	return k.time < other.time || k.time == other.time && k.place < other.place
}
