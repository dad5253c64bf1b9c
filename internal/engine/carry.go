package engine

import "github.com/64ed045f/weir/internal/fifo"

// embark starts w, a worker of a lane, with order o, on a worker of the parent. The caller has a permit for it there, and so on upwards; or host
// lends it a place: the worker on whose place w stands, or one that is vacant, of one of the engines above. Then permits are held for
// those between the two.
func (e *Engine) embark(w *Worker, o order, host *Worker) {
	p := e.lane.parent
	c := p.recruit()
	p.withdraw(c)
	w.order = o
	c.bears(w)
	if host != nil {
		on := host
		if host.engine == e {
			on = host.carrier.clear()
		}
		if on.engine == p {
			p.stack(c, on)
			c.place.strange = host.engine == e && on != host.carrier
			w.withPlace()
			host = on
		}
	}
	if p.lane != nil {
		p.embark(c, orderRun, host)
	} else {
		p.send(c, orderRun, nil)
	}
}

// top returns the one that has the place of w in the end.
func (w *Worker) top() *Worker {
	for w.place != nil && w.place.above != nil {
		w = w.place.above
	}
	return w
}

// isVacant reports whether w has a task that waits, and a place that it has not lent.
func (w *Worker) isVacant() bool { return w.place != nil && w.place.vacant.Of() != nil }

// isBacked reports whether what w lends its place to has one above as well: that of the carrier, or of the task at the top of it.
func (w *Worker) isBacked() bool {
	for w.carrier != nil {
		c := w.carrier
		if w = c.top(); w.isVacant() {
			continue
		}
		a := c.stranger()
		if a == nil {
			return false
		}
		w = a.place.beneath
	}
	return true
}

// stranger returns the first one above w whose task has a place of one that does not wait for it; nil if there is none.
func (w *Worker) stranger() *Worker {
	for w.place != nil && w.place.above != nil {
		if w = w.place.above; w.place.strange {
			return w
		}
	}
	return nil
}

// clear makes the place of w one that may be lent, and returns the worker that lends it. A stranger goes on with one more place.
func (w *Worker) clear() *Worker {
	if t := w.top(); t.isVacant() {
		return t
	}
	e, a := w.engine, w.stranger()
	on := a.place.beneath
	e.unstack(a)
	e.reacquire()
	e.vacate(on)
	e.touch()
	return on
}

// borrows reports whether w, or a worker that carries it, has a place that is lent to it.
func (w *Worker) borrows() bool {
	for ; w != nil; w = w.carrier {
		if w.place != nil && w.place.beneath != nil {
			return true
		}
	}
	return false
}

// isLost reports whether a worker that carries w has given its place to another task.
func (w *Worker) isLost() bool {
	for c := w.carrier; c != nil; c = c.carrier {
		if c.place != nil && c.place.lost {
			return true
		}
	}
	return false
}

// carry runs the worker that w carries until that has ended.
func (e *Engine) carry(w *Worker) {
	u := w.carries
	if u.carries != nil { // a task has ended the goroutine
		u.order = orderRun
	}
	u.work()
	w.mark = 0
	e.Begin(w)
}

// again is the order with which a worker goes on whose goroutine a task has ended.
func (w *Worker) again() order {
	if w.carries != nil {
		return orderRun
	}
	return orderTake
}

// pays charges the time that w has had its place to its lane.
func (w *Worker) pays() {
	if p := w.carrier.engine; w.turn != 0 {
		p.lanes.charge(&w.engine.lane.bid, w.turn, p.root().now())
		w.turn = 0
	}
}

// turns begins or ends a turn of w, and of those that carry it: its task goes on, or waits.
func (w *Worker) turns(begins bool) {
	for ; w.carrier != nil; w = w.carrier {
		if w.pays(); begins {
			w.turn = w.engine.root().now()
		}
	}
}

// lands ends that w is carried: its worker has ended. The carrier is active again. The caller holds the lock.
func (w *Worker) lands() {
	c := w.carrier
	if c == nil {
		return
	}
	p := c.engine
	w.pays()
	w.carrier, c.carries = nil, nil
	p.engage(c)
}

// kinship is a wait of a task for work of another engine of its family: the place above may be lent to that.
type kinship struct {
	want   *Want
	engine *Engine // of the want
	host   *Worker // of the nearest engine above both: the worker of the task, or one that carries it
	link   fifo.Link[kinship]
}

// kin returns the worker of the nearest engine that is above e, or is e, and that of w.
func (e *Engine) kin(w *Worker) *Worker {
	if w == nil || w.engine.root() != e.root() {
		return nil
	}
	for ; w != nil; w = w.carrier {
		for x := e; x != nil; x = x.parent() {
			if w.engine == x {
				return w
			}
		}
	}
	return nil
}

// relate notes that the task of w waits for want, which is of e. If a worker of e carries w it is returned: it lends its place like that of
// a task.
func (e *Engine) relate(want *Want, w *Worker) (own *Worker) {
	host := e.kin(w)
	if host == nil || !w.hasTask() {
		return nil
	}
	w.withPlace() // so that the end of the task ends that
	if host.withPlace(); host.engine == e {
		return host
	}
	if want.kin == nil {
		want.kin = &kinship{want: want, engine: e, host: host}
		host.place.kins.Prepend(&want.kin.link, want.kin)
	}
	return nil
}

// unrelate undoes relate.
func (w *Want) unrelate() {
	if k := w.kin; k != nil {
		k.host.place.kins.Remove(&k.link)
		w.kin = nil
	}
}

// claimKin finds work for which the task of w waits, of another engine of the family, and acquires what permits it needs.
func (e *Engine) claimKin(w *Worker) (found work, ok bool) {
	for l := w.place.kins.First(); l != nil; {
		k := l.Of()
		l = l.Next()
		if found, ok, _ = k.engine.claimBelow(e, k.want); ok {
			return found, true
		}
	}
	return found, false
}

// claimBelow finds work of want, which is e's, to run on a place of an engine above. none says that there is none, for which a permit was not
// lacking.
func (e *Engine) claimBelow(above *Engine, want *Want) (found work, ok, none bool) {
	switch {
	case !want.mayHaveWork():
		return found, false, true
	case e.isStopped() && !want.returning():
		return found, false, false
	}
	if !e.permitsBelow(above, want.returning()) {
		return found, false, false
	}
	if found, ok = e.claimFrom(want); !ok {
		for x := e; x != above; x = x.parent() {
			x.permits.release(false)
		}
		return found, false, true
	}
	found.engine = e
	return found, true, false
}

// mayHaveWork reports false if claimFrom would certainly find nothing.
func (w *Want) mayHaveWork() bool {
	if one := w.single; one != nil {
		return one.of.returning != nil || one.stands()
	}
	return w.subtasks.hasWork()
}

// permitsBelow acquires a permit of e, and of each engine between it and above. returns says that it is for a task that has begun.
func (e *Engine) permitsBelow(above *Engine, returns bool) bool {
	for x := e; x != above; x = x.parent() {
		begins := !returns || x != e
		if word := x.permits.word.Load(); begins && active(word) >= allowed(word) && !x.bidding() {
			return false // before a bid is taken back in vain
		}
	}
	for x := e; x != above; x = x.parent() {
		if !x.acquireForWait(returns && x == e) {
			for y := e; y != x; y = y.parent() {
				y.permits.release(false)
			}
			return false
		}
		x.touch()
	}
	return true
}

// acquireForWait acquires a permit for what a task waits for. It takes that of a bid, which is for any task.
func (e *Engine) acquireForWait(returns bool) bool {
	try := func() bool {
		if returns {
			return e.permits.tryReacquire(e.limit)
		}
		return e.permits.tryAcquire()
	}
	if try() {
		return true
	}
	if !e.bidding() {
		return false
	}
	e.unbid()
	e.touch()
	return try()
}

// needs notes that e has tasks for which others wait, and that may not have started.
func (e *Engine) needs() {
	for ; e.lane != nil; e = e.lane.parent {
		p := e.lane.parent
		if e.lane.needyAt == 0 {
			p.lanes.needy = append(p.lanes.needy, e)
			e.lane.needyAt = int32(len(p.lanes.needy))
		}
		p.touch()
	}
}

// offerAgain offers what tasks wait for, of e and of lanes below it, and had no permit of bidder, which has bid: its permit may have been on the way
// to that. Where all tasks wait above, any place may go to it.
func (e *Engine) offerAgain(bidder *Engine) {
	if e.unbegun.First() == nil && (e.lanes == nil || len(e.lanes.needy) == 0) {
		return
	}
	bidder.needs()
	for l := e.unbegun.First(); l != nil && bidder.bidding(); {
		want := l.Of()
		l = l.Next()
		k := want.kin
		if k == nil || !k.host.isVacant() || !k.host.isBacked() {
			continue
		}
		found, ok, none := e.claimBelow(k.host.engine, want)
		if ok {
			k.host.engine.lend(k.host, found)
		}
		if none {
			e.unbegun.Remove(&want.unbegun)
		}
	}
	if e.lanes != nil {
		for i := 0; i < len(e.lanes.needy) && bidder.bidding(); i++ {
			e.lanes.needy[i].offerAgain(bidder)
		}
	}
}

// claimNeeded finds work of a lane for which some task waits, to run on a place of an engine above all of whose tasks wait. A lane that has no
// permit for it has tasks that wait themselves: it does what is to be done for them.
func (e *Engine) claimNeeded(above *Engine) (found work, ok bool) {
	if e.lanes == nil {
		return found, false
	}
	for i := 0; i < len(e.lanes.needy) && !ok; {
		l := e.lanes.needy[i]
		for !ok && l.unbegun.First() != nil && !l.isStopped() {
			want, none := l.unbegun.First().Of(), false
			if found, ok, none = l.claimBelow(above, want); !ok && !none {
				break
			}
			if none {
				l.unbegun.Remove(&want.unbegun)
			}
		}
		if !ok {
			found, ok = l.claimNeeded(above)
		}
		if l.isStillNeedy() {
			i++
		}
	}
	return found, ok
}

// isStillNeedy takes a lane that has no tasks for which others wait off the list of its parent, and so on upwards. It reports whether it had some.
func (e *Engine) isStillNeedy() bool {
	if e.lane == nil || e.lane.needyAt == 0 || e.unbegun.First() != nil || e.lanes != nil && len(e.lanes.needy) > 0 {
		return true
	}
	p := e.lane.parent
	list := p.lanes.needy
	last := len(list) - 1
	list[e.lane.needyAt-1] = list[last]
	list[last].lane.needyAt = e.lane.needyAt
	list[last] = nil
	p.lanes.needy = list[:last]
	e.lane.needyAt = 0
	p.isStillNeedy()
	return false
}

// fillCarried lends the place of w, which is vacant and for which there is no work here, to work of the lanes that have tasks on it.
func (e *Engine) fillCarried(w *Worker) {
	for b := w; b != nil && w.isVacant(); b = b.place.beneath {
		if u := b.carries; u != nil && u.place != nil {
			u.engine.fill(u)
			u.engine.touch() // where all tasks of the lane wait, any may have it
		}
	}
}

// takeBid makes w, which is idle and has a permit, carry a worker of the lane that is to get the next place. It reports false if that is for
// a task of the queue.
func (e *Engine) takeBid(w *Worker) bool {
	now := e.root().now()
	b := e.lanes.best(now, e.hasQueued())
	e.lanes.begins(b)
	if b == &e.lanes.own {
		w.since = now
		return false
	}
	e.lodge(b, w, now)
	return true
}

// giveUpAbove gives the place of c up, which carries the worker of a task that gives its own up.
func (e *Engine) giveUpAbove(c *Worker) {
	c.carries.turns(false)
	c.withPlace()
	e.giveUp(c, nil, nil)
	e.touch()
}
