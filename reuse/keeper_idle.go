package reuse

import "time"

// The idle objects are in the order in which they were used. Most come back as the warmest, and stand in
// Keeper.stack. One that was away for a heartbeat or a check may find warmer ones there, and then stands in Keeper.late.

// warmest returns the idle object that was put back or opened last; nil if none is idle.
func (k *Keeper[T]) warmest() *object[T] {
	o := k.stack.First().Of()
	if l := k.late.last(); l != nil && (o == nil || l.of.place > o.place) {
		return l.of
	}
	return o
}

// alive returns the warmest object. Those before it whose Lifetime is over, and which upkeep has not seen to yet, it closes.
func (k *Keeper[T]) alive() *object[T] {
	o := k.warmest()
	for o != nil && k.config.Lifetime > 0 && k.now() >= o.dies {
		k.expire(o)
		k.serve()
		o = k.warmest()
	}
	return o
}

// coldest returns the idle object that was put back or opened first; nil if none is idle.
func (k *Keeper[T]) coldest() *object[T] {
	o := k.stack.Last().Of()
	if l := k.late.first(); l != nil && (o == nil || l.of.place < o.place) {
		return l.of
	}
	return o
}

// rest makes the object idle: the warmest, unless it was idle before and others were used since.
func (k *Keeper[T]) rest(o *object[T]) {
	if o.state == leased || o.state == opening {
		k.places++
		o.place = k.places
	}
	o.become(idle)
	if k.count[idle] == k.total {
		k.idleness++ // the next user may be in another synctest bubble
	}
	if warmer := k.stack.First().Of(); warmer != nil && warmer.place > o.place {
		k.late.add(&o.late, o, key{place: o.place})
	} else {
		k.stack.Prepend(&o.link, o)
	}
	if k.timed {
		k.watch(o)
		k.wakeAt(k.nextExpiry())
	}
}

// rouse takes the object out of the idle ones.
func (k *Keeper[T]) rouse(o *object[T]) {
	k.stack.Remove(&o.link)
	k.late.remove(&o.late)
}

// nextExpiry is when the IdleTimeout of the coldest object is over, if that may go then.
func (k *Keeper[T]) nextExpiry() time.Duration {
	if k.config.IdleTimeout == 0 || k.count[idle] <= k.config.MinIdle {
		return never
	}
	return after(k.coldest().used, k.config.IdleTimeout)
}

// watch has upkeep look at the object when its Lifetime is over, or its heartbeat is due. It may look too
// early, and for an object that is in use: then it looks again when there is a reason to. So objects that are
// leased and put back, again and again, need no other place among those that are watched.
func (k *Keeper[T]) watch(o *object[T]) {
	if o.watched.of != nil {
		return
	}
	if at := k.due(o); at < never {
		k.dues.add(&o.watched, o, key{at, o.place})
		k.wakeAt(at)
	}
}

// due is when the Lifetime of an idle object is over, or its heartbeat is to begin.
func (k *Keeper[T]) due(o *object[T]) time.Duration {
	if k.config.Heartbeat == nil {
		return o.dies
	}
	return min(o.dies, after(o.proved, k.config.HeartbeatEvery))
}
