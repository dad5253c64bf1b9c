package reuse

import "time"

// wakeAt has upkeep called at a time, at the latest. The timer is not stopped when idle
// objects are leased, which would make each lease dearer: it goes off, finds nothing and rests.
func (k *Keeper[T]) wakeAt(at time.Duration) {
	if at >= k.alarm {
		return
	}
	k.alarm = at
	if wait := at - k.now(); k.timer == nil {
		k.timer = time.AfterFunc(wait, k.upkeep)
	} else {
		k.timer.Reset(wait)
	}
}

// rewind has upkeep called when the first idle object is due.
func (k *Keeper[T]) rewind() {
	next := never
	for o := k.coldest; o != nil; o = o.prev {
		next = min(next, k.due(o)) // which depends on how many there are
	}
	k.wakeAt(next)
}

// unwind ends the timer. The next one is new: the old one may belong to a synctest bubble.
func (k *Keeper[T]) unwind() {
	if k.timer != nil {
		k.timer.Stop()
		k.timer, k.alarm = nil, never
	}
}

// due is when something must be done about an idle object.
func (k *Keeper[T]) due(o *object[T]) time.Duration {
	if k.config.Heartbeat == nil {
		return k.expires(o)
	}
	return min(k.expires(o), after(o.proved, k.config.HeartbeatEvery))
}

// expires is when an idle object has to go.
func (k *Keeper[T]) expires(o *object[T]) time.Duration {
	if k.config.IdleTimeout == 0 || k.count[idle] <= k.config.MinIdle {
		return o.dies
	}
	return min(o.dies, after(o.used, k.config.IdleTimeout))
}

// upkeep closes idle objects that are due, starts heartbeats, and keeps MinIdle objects ready. It
// may be called too early, or for nothing.
func (k *Keeper[T]) upkeep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.alarm = never
	now := k.now()
	var warmer *object[T]
	for o := k.coldest; o != nil; o = warmer {
		warmer = o.prev
		switch {
		case now >= k.expires(o):
			k.rouse(o)
			k.totals.expired++
			k.retire(o)
		case now >= k.due(o):
			k.rouse(o)
			o.become(beating)
			k.beats++
			go o.beat()
		}
	}
	k.rewind()
	k.serve()
}

// ready counts the objects that nobody waits for, and that are idle or will be.
func (k *Keeper[T]) ready() int { return k.count[idle] + k.beats + k.unclaimed }

// resting reports whether Open has failed for nobody so lately that nobody tries again.
func (k *Keeper[T]) resting() bool { return k.failures > 0 && k.now() < k.retry }

// refill opens objects for nobody, up to MinIdle.
func (k *Keeper[T]) refill() {
	for !k.closed && k.ready() < k.config.MinIdle && k.total < k.config.Capacity {
		if k.resting() {
			k.wakeAt(k.retry)
			return
		}
		k.begin(nil)
	}
}
