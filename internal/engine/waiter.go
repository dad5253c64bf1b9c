package engine

import "github.com/64ed045f/weir/internal/fifo"

// Waiter stands for a goroutine of a task during a wait. The place of the task may be lent then; in GiveUp it
// is free for any task. A Waiter serves one wait at a time.
type Waiter struct {
	Turn chan struct{} // of capacity 1: the waiting goroutine may go on when it has received
	Wait bool          // a wait for a set of subtasks: the goroutine looks again if a pause keeps them from starting

	// The task may have no place for what it waits for, see suspends. Under Engine.mu, but only the goroutine that waits changes it.
	apart bool

	state     waiterState // under Engine.mu, as are the fields below
	term      uint32
	worker    *Worker
	want      *Want
	unblocked *unblocked // nil if it is in no list of those
}

// unblocked is the entry of a waiter that waits for nothing but a place for its task, which has lent its own, in one or more engines of the family.
// It goes on when each of these places is vacant, or another is free.
//
// Invariant: such a waiter is suspended, and its entry is in Engine.unblocked of one of these engines, and in place.lingers of its task.
type unblocked struct {
	engine *Engine // one of these engines, which has the entry in its list
	link   fifo.Link[Waiter]
	own    fifo.Link[Waiter] // in place.lingers
	set    *Subtasks         // see Lingers; nil if there is none
	within fifo.Link[Waiter] // in set.lingering
}

// lender returns the worker of a's task, or the first that carries it, whose place is lent; nil if there is none.
func (a *Waiter) lender() *Worker {
	if a.worker == nil || !a.current() {
		return nil
	}
	return a.worker.lender()
}

// lender returns w, or the first worker that carries it, whose place is lent; nil if there is none.
func (w *Worker) lender() *Worker {
	for ; w != nil; w = w.carrier {
		if w.place != nil && w.place.above != nil {
			return w
		}
	}
	return nil
}

// lendsIn reports whether the place in e of a's task, which is not over, is lent.
func (a *Waiter) lendsIn(e *Engine) bool {
	for w := a.worker; w != nil; w = w.carrier {
		if w.engine == e {
			return w.place != nil && w.place.above != nil
		}
	}
	return false
}

// unblocks notes that a waits for nothing but a place, and for a permit of e first.
func (a *Waiter) unblocks(e *Engine) {
	u := a.unblocked
	if u == nil {
		u = new(unblocked)
		a.unblocked = u
		a.worker.place.lingers.Append(&u.own, a)
	} else {
		u.engine.unblocked.Remove(&u.link)
		u.engine.touch()
	}
	u.engine = e
	e.unblocked.Append(&u.link, a)
	e.touch()
}

// blocks undoes unblocks.
func (a *Waiter) blocks() {
	u := a.unblocked
	if u == nil {
		return
	}
	a.unblocked = nil
	a.worker.place.lingers.Remove(&u.own)
	u.engine.unblocked.Remove(&u.link)
	u.engine.touch()
	if u.set != nil {
		u.set.lingering.Remove(&u.within)
	}
}

// recallLingering recalls the waiters of w's task that waited for nothing but a place, if none of its places is lent any more.
func (w *Worker) recallLingering() {
	if w.place != nil && w.place.lingers.First() != nil && w.lender() == nil {
		w.engine.recallAll(&w.place.lingers, nil)
	}
}

// recallAll recalls the waiters of a list, which all wait for nothing but a place.
func (e *Engine) recallAll(lingering *fifo.List[Waiter], by *Worker) {
	for l := lingering.First(); l != nil; l = lingering.First() {
		e.recallOwn(l.Of(), by)
	}
}

type waiterState uint8

const (
	running   waiterState = iota
	early                 // recalled before it waited
	suspended             // waits
	blocked               // in GiveUp
	recalled              // has its turn, or waits for a place for its task
)

// Suspend begins a wait of the task on w: for want, if that is not nil; want must be of e. If a was recalled
// since it last arrived, the wait is over: then Suspend begins no wait and reports false. With a nil w, the
// waiting goroutine is no task and has no place.
func (e *Engine) Suspend(a *Waiter, w *Worker, want *Want) bool {
	e.mu.Lock()
	if a.state == early {
		a.state = running
		e.mu.Unlock()
		return false
	}
	e.suspends(a, w, want)
	e.unlock()
	return true
}

func (e *Engine) suspends(a *Waiter, w *Worker, want *Want) {
	a.state, a.want = suspended, want
	if a.Wait && want != nil && want.subtasks != nil {
		want.subtasks.waiter = a
	}
	if !e.hasTask(a, w) {
		if a.apart = true; want != nil {
			e.await(want, nil)
		}
		return
	}
	p := a.worker.place
	e.suspend(a.worker, want)
	a.apart = p.waits > 1 || // other goroutines of the task wait as well: the place may be lent to other work for long
		p.without || // one is in GiveUp
		p.lacking // a place further up is lent to other work, or given up
	switch sole := p.sole; {
	case !a.apart && a.Wait:
		p.sole = a
	case a.apart && sole != nil:
		e.recall(sole, nil) // it looks again
	}
}

// hasTask notes to which worker's task a belongs. It reports false if w is no worker of e, or has no task any
// more.
func (e *Engine) hasTask(a *Waiter, w *Worker) bool {
	a.worker = e.own(w)
	if a.worker == nil {
		return false
	}
	if !a.worker.hasTask() {
		a.worker = nil
		return false
	}
	a.term = a.worker.withPlace().term
	return true
}

// hasTask reports whether w has a task that has a place, as far as the engine knows.
func (w *Worker) hasTask() bool { return !w.idle && (w.place == nil || !w.place.lost) }

// Recall ends the wait of a, which receives its turn. by is the worker of a task that has ended the wait and
// is over, or about to be; nil for none. The goroutine of by must call Recall. If the waiting task has no
// place, it gets the place of by, and Recall reports true. A worker on its way to rest leaves the recall to
// rest, which takes the lock anyway; Recall then reports false.
func (e *Engine) Recall(a *Waiter, by *Worker) (taken bool) {
	if w := e.own(by); w != nil && w.defersRecall(a) {
		return false
	}
	e.mu.Lock()
	giver := e.giver(by)
	e.recall(a, by)
	taken = giver != nil && giver.place != nil && giver.place.lost
	e.unlock()
	return taken
}

// defersRecall leaves the recall of a to rest, if w is on its way there. It is hidden from the race detector:
// a task that runs on w is not ordered after the tasks before it.
//
//go:norace
func (w *Worker) defersRecall(a *Waiter) bool {
	if !w.rests || w.recalls != nil {
		return false
	}
	w.recalls = a
	return true
}

func (e *Engine) recall(a *Waiter, by *Worker) {
	switch a.state {
	case running:
		a.state = early
	case suspended:
		a.state = recalled // first: what gets a place now may ease the set that a waits for
		e.comesBack(a, by)
		a.Turn <- struct{}{}
	case blocked:
		a.state = recalled
		e.hasBlocked(a)
	case early, recalled:
	}
}

// Return is Recall by the goroutine that waited itself. That goroutine receives no turn. w is its Wakeup, if
// another goroutine may have used it, or nil.
func (e *Engine) Return(a *Waiter, w *Wakeup) {
	e.mu.Lock()
	e.goesOn(w)
	if a.state == suspended {
		e.comesBack(a, nil)
		a.state = running
	}
	e.unlock()
}

// GoesOn ends the use of w, for a task that goes on because of Recall.
func (e *Engine) GoesOn(w *Wakeup) {
	e.mu.Lock()
	e.goesOn(w)
	e.unlock()
}

func (e *Engine) goesOn(w *Wakeup) {
	if w != nil && w.state.Swap(used) == notified {
		e.subside()
	}
}

func (e *Engine) comesBack(a *Waiter, by *Worker) {
	a.blocks()
	if a.want != nil {
		e.unawait(a.want)
	}
	if a.worker != nil && a.current() {
		if a.worker.place.sole == a {
			a.worker.place.sole = nil
		}
		e.resume(a.worker, by)
	}
	a.worker, a.want = nil, nil
}

// current reports whether the task of a is not over.
func (a *Waiter) current() bool { return a.term == a.worker.place.term }

// Arrived must be called after a task has had its turn, before it waits again.
func (e *Engine) Arrived(a *Waiter) {
	e.mu.Lock()
	a.state = running
	e.mu.Unlock()
}

// GiveUp gives up the place of the task on w: it is free for any task. After a Recall the task has a place
// again when it receives its turn. Like Suspend, GiveUp reports false if a was recalled before. Tasks that
// wait for this task alone wait for single. part is the set of subtasks that the task belongs to. Each is nil
// if there is none.
func (e *Engine) GiveUp(a *Waiter, w *Worker, single *Single, part *Subtasks) bool {
	e.mu.Lock()
	if a.state == early {
		a.state = running
		e.mu.Unlock()
		return false
	}
	a.state = blocked
	if e.hasTask(a, w) {
		e.giveUp(a.worker, single, part)
	}
	e.unlock()
	return true
}

func (e *Engine) giveUp(w *Worker, single *Single, part *Subtasks) {
	p := w.place
	if c := w.carrier; c != nil {
		defer c.engine.giveUpAbove(c)
	}
	p.blocked++
	e.letReturn(w)                  // from what it returns to, which may be another task's: see around
	p.single, p.part = single, part // for the next return
	switch {
	case p.without:
		return // it has no place to give up
	case p.waits == 0:
		e.nowWaits(w, 1)
	case p.above != nil || !w.isSplit():
		return // other goroutines of it wait for work that is lent the place, or may be
	default:
		e.occupy(w)
	}
	e.parts(w)
}

// parts takes the place from the task of w, at the top of it. It is free, or that of the task beneath.
func (e *Engine) parts(w *Worker) {
	w.place.without = true
	b := w.place.beneath
	if b == nil {
		e.permits.release(false)
		return
	}
	e.unstack(w)
	e.vacate(b)
	e.fill(b)
}

// isSplit reports whether the task of w has given its place up in one of the engines of its family, and has one in
// that of w: it was about to go on, and had to wait for the other one.
func (w *Worker) isSplit() bool {
	for c := w.carrier; c != nil; c = c.carrier {
		if c.place != nil && c.place.without {
			return true
		}
	}
	for u := w.carries; u != nil; u = u.carries {
		if u.place != nil && u.place.without {
			return true
		}
	}
	return false
}

// hasBlocked ends the GiveUp of a. If it was the last GiveUp of the task, the task wants a place again. If
// another goroutine of the task waits, that place may be lent; otherwise the goroutine of a waits for the
// place.
func (e *Engine) hasBlocked(a *Waiter) {
	w := a.worker
	if w == nil || !a.current() {
		e.arrive(a)
		return
	}
	e.unblock(w, a)
}

func (e *Engine) unblock(w *Worker, a *Waiter) {
	p := w.place
	p.blocked--
	wants := p.without && p.blocked == 0
	if wants && p.waits == 0 {
		p.returner = a
	} else {
		e.passOn(w, a)
	}
	if wants {
		e.returns(w)
	}
}

// passOn lets a go on, whose task has what it needs on w. If w is carried, the task needs the same on its
// carrier first.
func (e *Engine) passOn(w *Worker, a *Waiter) {
	if c := w.carrier; c != nil && c.place != nil && c.place.blocked > 0 {
		c.engine.unblock(c, a)
		c.engine.touch()
		return
	}
	e.arrive(a)
}

// returns notes that the task of w has given its place up and wants one again. It gets a free place, or the
// vacant place of a task that waits for it.
func (e *Engine) returns(w *Worker) {
	p := w.place
	e.returning.Append(&p.returning, w)
	e.joinsReturning(w)
	switch { // what lacks a permit in a lane is offered again, as new work is: see offerAgain
	case p.part != nil && p.part.want.waits.Load() > 0:
		e.offer(&p.part.want)
	case p.single != nil:
		for l := p.single.wants.First(); l != nil && p.without; l = l.Next() {
			e.offer(&l.Of().Want)
		}
	}
}

// joinsReturning follows the entry of w in Engine.returning.
func (e *Engine) joinsReturning(w *Worker) {
	if w.carries != nil {
		e.joinsSplits(w)
		return
	}
	e.comingBack++
	switch p := w.place; {
	case p.part != nil:
		p.part.returnees().here.Append(&p.sibling, w)
	case p.single != nil:
		p.single.returning = w
	}
}

// goOn gives a place to the task of w, which wants one again: the place of b, if b is not nil.
func (e *Engine) goOn(w, b *Worker) {
	p := w.place
	p.without = false
	if b != nil {
		e.stack(w, b)
	}
	e.hasReturned(w)
	if a := p.returner; a != nil {
		p.returner = nil
		e.nowWaits(w, -1)
		e.passOn(w, a)
	} else {
		e.vacate(w)
	}
	if b != nil && w.carrier != nil && w.carrier.isReturning() && b.carrier != nil && b.isBacked() { // the carriers do the same
		c := w.carrier
		c.engine.goOn(c, b.carrier.clear())
		c.engine.touch()
	}
	e.fill(w)
}

func (w *Worker) isReturning() bool { return w.place != nil && w.place.returning.Of() != nil }

// letReturn lets the goroutine go on that waits for a place for w's task, if the task does not need one any
// more.
func (e *Engine) letReturn(w *Worker) {
	p := w.place
	needs := p.without && p.blocked == 0
	if w.isReturning() && !needs {
		e.hasReturned(w) // first: the carrier of w may enter w in another list, see place.sibling
	}
	if a := p.returner; a != nil && (!needs || p.waits > 0 || !a.current()) {
		p.returner = nil
		w.leavesUnused()
		e.passOn(w, a)
	}
}

func (e *Engine) arrive(a *Waiter) {
	if a.worker != nil {
		a.worker.turns(true)
	}
	a.worker = nil
	a.state = running
	a.Turn <- struct{}{}
}

// hasReturned undoes returns.
func (e *Engine) hasReturned(w *Worker) {
	p := w.place
	e.returning.Remove(&p.returning)
	if w.carries != nil {
		e.leavesSplits(w)
		return
	}
	e.comingBack--
	switch {
	case p.part != nil:
		p.part.returns.here.Remove(&p.sibling)
		e.dry(p.part)
	case p.single != nil:
		p.single.leaves()
	}
}

// admit gives free permits to tasks that have given their place up and want to go on. After them come tasks
// that have lent their place while they waited for room, and need not wait any more. All these tasks started
// long ago, so a pause does not hold them.
func (e *Engine) admit() {
	if e.returning.First() != nil && e.bidding() {
		e.unbid() // the bid's permit is for a task that has not begun
	}
	for l := e.returning.First(); l != nil; l = e.returning.First() {
		switch {
		case e.permits.tryReacquire(e.limit):
			e.goOn(l.Of(), nil)
		case e.vacancies > 0 && e.allWait() && e.vacantPlace() != nil:
			e.lendAny(work{returning: l.Of()})
		case e.lanes == nil || e.vacancies == 0 && e.lent == 0 || !e.admitFromBelow():
			return
		}
	}
	for l := e.unblocked.First(); l != nil && e.mayReacquire(); l = e.unblocked.First() {
		if a := l.Of(); a.prepays() {
			w := a.worker
			e.recallOwn(a, nil)
			w.refund()
		}
	}
}

// mayReacquire reports whether a task that goes on may have a permit of e: a free one, or that of the bid, which is for a task that has not begun.
func (e *Engine) mayReacquire() bool { return e.permits.active() < e.limit || e.bidding() }

// prepays acquires the permits that a's task needs to go on: one in each engine where its place is lent. If one is lacking, a waits for that.
func (a *Waiter) prepays() bool {
	if a.worker == nil || !a.current() {
		return true
	}
	for w := a.worker.lender(); w != nil; w = w.carrier.lender() {
		if !w.engine.mayReacquire() {
			a.unblocks(w.engine)
			return false
		}
	}
	for w := a.worker.lender(); w != nil; w = w.carrier.lender() {
		e := w.engine
		for !e.permits.tryReacquire(e.limit) {
			if !e.bidding() { // another goroutine, which needs no lock, has the permit now
				a.worker.refund()
				a.unblocks(e)
				return false
			}
			e.unbid()
		}
		e.prepaid = true
		e.touch()
	}
	return true
}

// refund releases the permits that were acquired for a task that goes on, as far as that has not needed them.
func (w *Worker) refund() {
	for ; w != nil; w = w.carrier {
		if e := w.engine; e.prepaid {
			e.prepaid = false
			e.permits.release(false)
			e.touch()
		}
	}
}

// recallOwn is recall for a waiter that may be of another engine of the family.
func (e *Engine) recallOwn(a *Waiter, by *Worker) {
	if w := a.worker; w != nil {
		e = w.engine
		e.touch()
	}
	e.recall(a, by)
}

// placeWanted reports whether a task wants to go on and has no place yet. Such a task comes before any queued
// one.
func (e *Engine) placeWanted() bool {
	return e.returning.First() != nil || e.unblocked.First() != nil
}

// reacquire acquires a permit for a task that goes on, even beyond the limit.
func (e *Engine) reacquire() {
	if !e.prepaid {
		e.permits.acquire()
	}
	e.prepaid = false
}

// Crowded reports whether s is overfull. If so, it begins a wait of the task on w, with a, until s has room.
func (e *Engine) Crowded(s *Subtasks, a *Waiter, w *Worker) bool {
	e.mu.Lock()
	if !e.Overfull(s) {
		e.mu.Unlock()
		return false
	}
	s.crowded = append(s.crowded, a)
	e.suspends(a, w, s.Want())
	e.unlock()
	return true
}

// Lingers goes on with the wait of a, whose task has handed over a task of another engine of the family, until no place that it has lent is lent any
// more, it may have another one, or a task of s, if that is not nil, is over. w is the Wakeup of that wait. Lingers reports false if no place is lent,
// or none to a task of s: one to which a place is lent as all tasks wait may wait for the task of a in turn.
func (e *Engine) Lingers(s *Subtasks, a *Waiter, w *Wakeup) bool {
	e.mu.Lock()
	defer e.unlock()
	x := a.lender()
	if x == nil || s != nil && !a.worker.lendsTo(s) {
		return false
	}
	if w.state.CompareAndSwap(notified, unnotified) {
		w.engine.subside()
	}
	a.unblocks(x.engine)
	if a.unblocked.set = s; s != nil {
		s.lingering.Append(&a.unblocked.within, a)
	}
	return true
}

// lendsTo reports whether w, or a worker that carries it, has lent its place to a task of s.
func (w *Worker) lendsTo(s *Subtasks) bool {
	for ; w != nil; w = w.carrier {
		if w.place == nil || w.place.above == nil {
			continue
		}
		if u := w.place.above.bottom(); u.place != nil && u.place.from == s {
			return true
		}
	}
	return false
}

// bottom returns the worker that runs the task of w: w, or the last one that it carries.
func (w *Worker) bottom() *Worker {
	for w.carries != nil {
		w = w.carries
	}
	return w
}

// lingering returns the first of the waiters of w's task that wait for nothing but a place.
func (w *Worker) lingering() *fifo.Link[Waiter] {
	if w.place == nil {
		return nil
	}
	return w.place.lingers.First()
}

// MustWatch reports whether the goroutine of a, which waits for w, must watch itself for a cancellation: w has open subtasks that no worker may
// start now, because the engine is paused, or the task may have no place for them. It needs no lock, as the goroutine waits already. What
// changes the answer later recalls a: a pause, a task that comes in a pause, another wait of the task, and the end of the task.
func (e *Engine) MustWatch(a *Waiter, w *Want) bool {
	if a.apart {
		return true
	}
	if w.subtasks.open.Load() == 0 {
		return false
	}
	for ; e != nil; e = e.parent() {
		if e.permits.none() {
			return true
		}
	}
	return false
}

// recallWaiter makes the task that waits for the open tasks of s, which no worker may start, look again. If
// its group was cancelled, nothing else may come to discard them, as in a pause. While the place of the task
// is lent to what it waits for, the worker that has the place does that.
func (e *Engine) recallWaiter(s *Subtasks) {
	a := s.waiter
	if a == nil || a.want != &s.want || s.open.Load() == 0 {
		return
	}
	if a.worker != nil && a.current() {
		if u := a.worker.place.above; u != nil && !u.place.strange && !u.place.moved {
			return
		}
	}
	e.recall(a, nil)
}
