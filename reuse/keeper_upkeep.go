package reuse

import "time"

// wakeAt makes the timer call upkeep at the given time or before. A lease does not stop the timer, since that
// would make each lease more expensive: the timer fires, and upkeep finds nothing to do.
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

// unwind ends the timer. The next timer is a new one: the old one may belong to a synctest bubble.
func (k *Keeper[T]) unwind() {
	if k.timer != nil {
		k.timer.Stop()
		k.timer, k.alarm = nil, never
	}
}

// upkeepBatch is how many objects upkeep looks at before it lets other goroutines have the lock.
const upkeepBatch = 64

// upkeep closes idle objects that are due, starts heartbeats, and keeps MinIdle objects ready. A
// call may come too early, or find nothing to do.
func (k *Keeper[T]) upkeep() {
	for more := true; more; {
		k.mu.Lock()
		more = k.tend(k.now())
		k.mu.Unlock()
	}
}

// tend handles a batch of objects that are due. It reports whether there are more.
func (k *Keeper[T]) tend(now time.Duration) (more bool) {
	k.alarm = never
	left := upkeepBatch
	beats := make([]*object[T], 0, upkeepBatch)
	for n := k.dues.First(); n != nil && n.Key().time <= now && left > 0; n = k.dues.First() {
		left--
		o := n.Of()
		k.dues.Remove(n)
		switch {
		case o.state != idle:
		case now >= o.dies:
			k.expire(o)
		case now >= k.due(o):
			beats = append(beats, o)
		default:
			k.watch(o)
		}
	}
	for ; now >= k.nextExpiry() && left > 0; left-- {
		k.expire(k.coldest())
	}
	for _, o := range beats {
		if o.state == idle {
			k.rouse(o)
			o.become(beating)
			k.beats++
			go o.beat()
		}
	}
	next := k.nextExpiry()
	if n := k.dues.First(); n != nil {
		next = min(next, n.Key().time)
	}
	if next > now {
		k.wakeAt(next)
	}
	k.serve()
	return next <= now
}

// expire starts to close an idle object whose time is over.
func (k *Keeper[T]) expire(o *object[T]) {
	k.rouse(o)
	k.totals.expired++
	k.retire(o)
}

// ready counts the objects that no user waits for, and that are or will be idle.
func (k *Keeper[T]) ready() int { return k.count[idle] + k.beats + k.unclaimed }

// resting reports whether an Open without a waiter failed so recently that the keeper does not try again yet.
func (k *Keeper[T]) resting() bool { return k.failures > 0 && k.restsAt(k.now()) }

// restsAt reports whether the time of the next try is ahead. If it is impossibly far ahead, it is of another clock, in a
// test bubble or outside.
func (k *Keeper[T]) restsAt(now time.Duration) bool { return now < k.retry && k.retry-now <= lastRetry }

// refill opens objects without a waiter, up to MinIdle.
func (k *Keeper[T]) refill() {
	for !k.closed && k.ready() < k.config.MinIdle && k.total < k.config.Capacity {
		if k.resting() {
			k.wakeAt(k.retry)
			return
		}
		k.open(nil)
	}
}
