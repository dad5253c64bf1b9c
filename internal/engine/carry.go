package engine

import "github.com/64ed045f/weir/internal/fifo"

// embark starts w, a worker of the lane e, with order o, on a worker of the parent. Either the caller has
// acquired a permit for it in each engine above, or host lends it a place. host is the worker on whose place
// w stands, or a worker of one of the engines above whose place is vacant. Then the caller has acquired
// permits in the engines between e and host's.
func (e *Engine) embark(w *Worker, o order, host *Worker) {
	p := e.lane.parent
	c := p.recruit()
	p.withdraw(c)
	w.order = o
	c.bears(w)
	if host != nil {
		w.withPlace() // so that w sees, when it has nothing in hand, that it borrows the place
		on := host
		if host.engine == e {
			on = host.carrier.clear()
		}
		if on.engine == p {
			p.stack(c, on)
			c.place.strange = host.engine == e && on != host.carrier
			host = on
		}
	}
	if p.lane != nil {
		p.embark(c, orderRun, host)
	} else {
		p.send(c, orderRun, nil)
	}
}

// top returns the worker at the top of the stack in which w is.
func (w *Worker) top() *Worker {
	for w.place != nil && w.place.above != nil {
		w = w.place.above
	}
	return w
}

// isVacant reports whether w has a task that waits, and a place that it has not lent.
func (w *Worker) isVacant() bool { return w.place != nil && w.place.vacant.Of() != nil }

// isBacked reports whether a borrower of w's place would have a place in each engine above, too: the place of
// w's carrier, or that of the task at the top of it.
func (w *Worker) isBacked() bool { return w.carrier == nil || w.carrier.mayBeCleared() }

// mayLend is isBacked for a place for which there is work.
func (w *Worker) mayLend() bool {
	backed := w.isBacked()
	if !backed {
		w.lacks()
	}
	return backed
}

// lacks notes that there is, or may soon be, work for the place of w which cannot have it now: a place further up is not vacant, a lane has no
// permit, or the task does not wait for it at the moment. If the place is vacant, fillCarried comes back to it.
func (w *Worker) lacks() {
	if w.carrier != nil && !w.place.lacking && w.isVacant() {
		w.place.lacking = true
		w.engine.root().lanes.lacking++
	}
}

// lacksNoMore undoes lacks.
func (w *Worker) lacksNoMore() {
	if w.place.lacking {
		w.place.lacking = false
		w.engine.root().lanes.lacking--
	}
}

// mayBeCleared reports whether clear finds a place that may be lent, which is backed.
func (w *Worker) mayBeCleared() bool {
	for ; w != nil; w = w.carrier {
		t := w.top()
		if !t.isVacant() {
			a := w.stranger()
			if a == nil {
				return false
			}
			t = a.place.beneath
		}
		w = t
	}
	return true
}

// stranger returns the first worker above w whose task has the place of a task that does not wait for it; nil
// if there is none.
func (w *Worker) stranger() *Worker {
	for w.place != nil && w.place.above != nil {
		if w = w.place.above; w.place.strange {
			return w
		}
	}
	return nil
}

// clear makes the place of w one that may be lent, and returns the worker that lends it. A stranger there
// goes on with one more permit.
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

// borrows reports whether a place is lent to w, or to a worker that carries it.
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

// carry runs the worker that w carries until that worker has ended.
func (e *Engine) carry(w *Worker) {
	u := w.carries
	if u.carries != nil { // a task has ended the goroutine
		u.order = orderRun
	}
	u.work()
	w.mark = 0
	e.Begin(w)
}

// again returns the order with which w goes on after a task has ended its goroutine.
func (w *Worker) again() order {
	if w.carries != nil {
		return orderRun
	}
	return orderTake
}

// pays charges w's lane for the time that w has had its place.
func (w *Worker) pays() {
	if p := w.carrier.engine; w.turn != 0 {
		b, now := &w.engine.lane.bid, p.root().now()
		p.lanes.charge(b, w.turn, now)
		p.lanes.backs(b, now)
		w.turn = 0
	}
}

// turns ends the turn of w, and of the workers that carry it. With begins it starts a new one: the task goes
// on. Without, the task waits.
func (w *Worker) turns(begins bool) {
	for ; w.carrier != nil; w = w.carrier {
		if w.pays(); begins {
			w.turn = w.engine.root().now()
		}
	}
}

// lands ends the carrying of w, which has ended. The carrier is active again. The caller holds the lock.
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

// kinship is a wait of a task for work of another engine of its family. The place in a common engine above
// may be lent to that work.
type kinship struct {
	want   *Want
	engine *Engine // of the want
	host   *Worker // the worker of the task, or one that carries it, in the nearest engine above both
	via    []*Want // the wants between the two; empty if the task waits for want itself
	link   fifo.Link[kinship]
}

// current reports whether the task waits for the want now: see [Want.current].
func (k *kinship) current() bool { return allAwaited(k.via) }

// kin returns w, or the nearest worker that carries it, whose engine is e or above e. It returns nil if w is
// of another family.
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

// relate notes that the task of w waits for want, which is of e, by way of via. If w, or a worker that carries it,
// is of e, relate returns that worker: it lends its place as a worker with a waiting task does.
func (e *Engine) relate(want *Want, w *Worker, via []*Want) (own *Worker) {
	host := e.kin(w)
	if host == nil || !w.hasTask() {
		return nil
	}
	w.withPlace() // so that the end of the task ends the relation
	if host.withPlace(); host.engine == e {
		return host
	}
	if want.kin == nil {
		want.kin = &kinship{want: want, engine: e, host: host, via: via}
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

// claimKin finds work of another engine of the family for which the task of w waits, and acquires the permits
// that the work needs.
func (e *Engine) claimKin(w *Worker) (found work, ok bool) {
	for l := w.place.kins.First(); l != nil; {
		k := l.Of()
		l = l.Next()
		none := false
		if k.current() {
			if found, ok, none = k.engine.claimBelow(e, k.want); ok {
				return found, true
			}
		}
		if !none {
			w.lacks()
		}
	}
	return found, false
}

// claimBelow finds work of want, which is of e, to run on a place of the engine above. The result none says
// that there is no such work; otherwise only a permit may have been lacking.
func (e *Engine) claimBelow(above *Engine, want *Want) (found work, ok, none bool) {
	if c := e.backBetween(above, want); c != nil {
		ok = c.engine.permitsBelow(above, true)
		return work{returning: c, engine: c.engine}, ok, false
	}
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
		return one.of.back() != nil || one.stands()
	}
	return w.subtasks.hasWork()
}

// permitsBelow acquires a permit in e, and in each engine between e and above. returns says that they are for a
// task that has begun already: a pause does not hold it.
func (e *Engine) permitsBelow(above *Engine, returns bool) bool {
	for x := e; x != above; x = x.parent() {
		word := x.permits.word.Load()
		most := allowed(word)
		if returns {
			most = uint64(x.limit)
		}
		if active(word) >= most && !x.bidding() && x.firstUnused() == nil {
			e.lacksPermit(x)
			return false // before a permit is taken from a bid, or a task, without effect
		}
	}
	for x := e; x != above; x = x.parent() {
		if !x.acquireForWait(returns) {
			for y := e; y != x; y = y.parent() {
				y.permits.release(false)
			}
			e.lacksPermit(x)
			return false
		}
		x.touch()
	}
	return true
}

// acquireForWait acquires a permit for work that a task waits for. It may take the permit of a bid, which is
// for any task, and those of tasks that cannot use them yet: more than one where the limit was lowered.
func (e *Engine) acquireForWait(returns bool) bool {
	for {
		if returns && e.permits.tryReacquire(e.limit) || !returns && e.permits.tryAcquire() {
			return true
		}
		if e.bidding() {
			e.unbid()
			e.touch()
			continue
		}
		w := e.firstUnused()
		if w == nil {
			return false
		}
		e.takeUnused(w)
	}
}

// lacksPermit notes that work of e which a task waits for has lacked a permit of x, if that work has a ticket in the queue
// of an engine that takes tokens: e or one between the two.
func (e *Engine) lacksPermit(x *Engine) {
	for ; ; e = e.lane.parent {
		if e.rated != nil {
			x.lane.bid.lacked = true
		}
		if e == x {
			return
		}
	}
}

// offersPermit offers a free permit of e to the work that has lacked it. A worker may have had the permit, and have found no
// token. Then e does not bid, though such work needs no token.
func (e *Engine) offersPermit() {
	if e.spares() {
		e.lane.bid.lacked = false
		if e.offerAgain(e) && !e.spares() {
			e.lane.bid.lacked = true // more work may lack it
		}
	}
}

// spares reports whether acquireForWait would find a permit.
func (e *Engine) spares() bool {
	word := e.permits.word.Load()
	return active(word) < allowed(word) || e.hasUnused()
}

// hasUnused reports whether acquireForWait would find a permit that is not free.
func (e *Engine) hasUnused() bool { return e.bidding() || e.firstUnused() != nil }

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

// offerAgain follows a bid of bidder, whose permit the bid holds now, or a task that has a permit there and none further up, or the release
// of a permit for which bidder does not bid, see offersPermit. Work of e, and of lanes below it, that tasks wait for may have lacked that
// permit: offerAgain offers it once more, and also takes the place of a task that waits for the work from a stranger, as look does. If all
// tasks wait above, any place may go to the work. Lending a place may end other waits, and so change the lists that are gone through:
// offerAgain then begins anew. It reports whether it has lent one.
func (e *Engine) offerAgain(bidder *Engine) (lent bool) {
	if !e.isNeedy() {
		return false
	}
	bidder.needs()
	for l, may := e.unbegun.First(), e.mayBeLentTo(); l != nil && may && bidder.spares(); {
		want := l.Of()
		l = l.Next()
		k := want.kin
		if k == nil && !want.mayHaveWork() && !want.mayBeSplit() {
			e.unbegun.Remove(&want.unbegun) // until offer: thousands of these would be looked at each time
		}
		if k == nil || !k.current() {
			continue
		}
		above := k.host.engine
		taken := above.isTaken(k.host)
		if !k.host.isVacant() && !taken || !k.host.mayLend() {
			continue
		}
		found, ok, none := e.claimBelow(above, want)
		if ok {
			if taken {
				above.takeBack(k.host)
				above.touch()
			}
			above.lend(k.host, found)
			l, lent, may = e.unbegun.First(), true, e.mayBeLentTo()
		}
		if none {
			e.unbegun.Remove(&want.unbegun)
		}
	}
	if e.lanes != nil {
		for i := 0; i < len(e.lanes.needy) && bidder.spares(); {
			if i++; e.lanes.needy[i-1].offerAgain(bidder) {
				i, lent = 0, true
			}
		}
	}
	return lent
}

// mayBeLentTo reports false if no place above e can be lent to work of e: where places are lent or vacant, there is no permit in the lane just
// below, which mayBeLentTo notes as permitsBelow does. Of thousands of tasks that lack the same permit none need be looked at.
func (e *Engine) mayBeLentTo() bool {
	x := e
	for above := x.parent(); above != nil; x, above = above, above.parent() {
		switch {
		case above.vacancies == 0 && above.lent == 0:
		case x.permits.active() < x.limit || x.hasUnused():
			return true
		default:
			e.lacksPermit(x)
		}
	}
	return false
}

// claimNeeded finds work of a lane for which some task waits, to run on a place of the engine above, all of
// whose tasks wait. If a lane has no permit for it, tasks of the lane itself wait: the lane does what is due
// for them.
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

// isNeedy reports whether e, or a lane below, has tasks for which others wait, and that may not have started.
func (e *Engine) isNeedy() bool {
	return e.unbegun.First() != nil || e.lanes != nil && len(e.lanes.needy) > 0
}

// isStillNeedy removes a lane that has no tasks for which others wait from the list of its parent, and so on
// upwards. It reports whether the lane is still in that list.
func (e *Engine) isStillNeedy() bool {
	switch {
	case e.lane == nil, e.lane.needyAt == 0:
		return false
	case e.isNeedy():
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

// fillCarried lends the place of w to work of the lanes that have tasks on it. That place is vacant, and there is no work for it in e. Thousands of
// tasks may be on the place: fillCarried looks at them only while some work of the family may lack a place further up.
func (e *Engine) fillCarried(w *Worker) {
	for b := w; b != nil && w.isVacant() && e.lanes.root.lanes.lacking > 0; b = b.place.beneath {
		if u := b.carries; u != nil && u.place != nil {
			u.lacksNoMore()
			u.engine.fill(u)
			u.engine.touch() // where all tasks of the lane wait, any work may have the place
		}
	}
}

// takeBid makes w, which is idle and has a permit, carry a worker of the lane that gets the next place. It
// reports false if that place is for a task of the queue, or no lane may get it without a token.
func (e *Engine) takeBid(w *Worker) bool {
	now := e.root().now()
	b := e.lanes.best(now, e.hasQueued(), e.isDry(), lowest)
	if b == nil {
		return false
	}
	price, ok := e.admitsBid(b)
	if !ok {
		if b = e.lanes.best(now, e.hasQueued(), true, lowest); b == nil {
			return false
		}
	}
	e.lanes.begins(b)
	b.used += price / float64(b.share)
	if b == &e.lanes.own {
		b.number = e.lanes.next() // lanes with an equal claim come before the next task of the queue
		w.since = now
		return false
	}
	e.lodge(b, w, now)
	return true
}

// giveUpAbove gives up the place of c, which carries the worker of a task that gives its own place up.
func (e *Engine) giveUpAbove(c *Worker) {
	c.carries.turns(false)
	c.withPlace()
	e.giveUp(c, nil, nil)
	e.touch()
}
