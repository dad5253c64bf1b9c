package engine

import (
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// place is what the engine knows of a task that has waited, or that runs in the place of one that waits. Most
// workers never have such a task.
//
// A task that has begun holds a place; there are as many places as the limit. A place is a stack of tasks,
// here of their workers. The task at the top runs or waits. The tasks beneath it wait, and have lent it their
// place. The worker at the bottom has the permit. A place whose top waits is vacant: it may be lent.
//
// A task whose wait is over never waits for a place. If its own place is lent, the borrower goes on with one
// more permit, even one beyond the limit. As long as more permits are held than are allowed, no queued task
// starts, and the next worker that has nothing in hand releases its permit.
//
// Invariants, under Engine.mu. The workers that hold permits are those that search, or have a task, waiting
// or not, and that have no worker beneath them. A task that has given its place up holds no permit. A worker
// whose task waits is in Engine.vacant, or has a worker above it, or has no place. A worker whose task does
// not wait has no worker above it.
type place struct {
	beneath *Worker // the worker whose task waits, and has lent its place to this one's
	above   *Worker // the worker to whose task this one's has lent its place
	vacant  fifo.Link[Worker]
	awaits  fifo.List[Want]    // what goroutines of the task wait for
	kins    fifo.List[kinship] // what they wait for on other engines of the family
	from    *Subtasks          // the set that the task was claimed from; nil if none
	part    *Subtasks          // of a task in GiveUp: the set of subtasks that it belongs to, or nil,
	single  *Single            // and the Single by which tasks wait for it alone, or nil
	lingers fifo.List[Waiter]  // goroutines of the task that may go on when it has a place: see unblocked
	sole    *Waiter            // has the place to itself for a wait for a set of subtasks: see Waiter.apart; nil for none
	waits   int32              // how many goroutines of the task wait
	blocked int32              // how many goroutines of the task are in GiveUp
	term    uint32             // how many tasks have ended on this worker while goroutines of them waited
	since   int64              // when a measured task began to wait, on the meter's clock; 0 while it does not wait
	away    time.Duration      // how long the measured task has waited before
	without bool               // the task has given its place up, and has none
	lost    bool               // the task is over, or about to be, and another task has its place
	strange bool               // the task stands on the place of a task that does not wait for it
	moved   bool               // the task had to move to the place of a task that may not wait for it
	unused  bool               // the workers that this one carries are in Engine.unused
	lacking bool               // the place is vacant, and there may be work for it that cannot have it yet: see lacks

	returner  *Waiter           // waiter of the goroutine that waits for a place for the task
	returning fifo.Link[Worker] // in Engine.returning, if there is one
	sibling   fifo.Link[Worker] // in part.returns.here, in splits.carriers or, if a worker that carries this one has unused set, in Engine.unused
	splits    *splits           // of the task that the worker carries, if that is split
}

// withPlace returns the place of w, which it makes if there is none. It also makes w look at its place when
// its task is over.
func (w *Worker) withPlace() *place {
	if w.place == nil {
		w.place = new(place)
	}
	if !w.detour.Load() {
		w.detour.Store(true)
	}
	return w.place
}

// take notes that the task which w is about to run is a subtask, from the set from.
func (w *Worker) take(from *Subtasks) {
	if w.withPlace().from = from; from != nil {
		w.engine.numbers(from)
	}
}

// suspend notes that one goroutine of w's task waits, for want if that is not nil. The place of the task is
// vacant from the start of the first such wait to the end of the last one.
func (e *Engine) suspend(w *Worker, want *Want) {
	if c := w.carrier; c != nil { // first the carrier: what fill finds needs the places above as well
		w.turns(false)
		c.engine.suspend(c, nil)
		c.engine.touch()
	}
	p := w.withPlace()
	p.waits++
	e.letReturn(w)
	if p.waits == 1 && w.begun.Load() != 0 {
		p.since = e.queue.meter.now()
	}
	if p.waits == 1 && !p.without {
		e.nowWaits(w, 1)
		e.vacate(w)
	}
	if want != nil {
		e.await(want, w)
	} else {
		e.fill(w) // with work that its task waits for by way of other tasks
	}
}

// vacate notes that the task at the top of a place waits: the place is vacant.
func (e *Engine) vacate(w *Worker) {
	e.vacant.Prepend(&w.place.vacant, w)
	e.vacancies++
}

// occupy notes that the task at the top of a place does not wait any more, or has lent the place.
func (e *Engine) occupy(w *Worker) {
	e.vacant.Remove(&w.place.vacant)
	e.vacancies--
	w.lacksNoMore()
}

// fill lends the place of w, if that is vacant, to work that its task waits for. If there is none, goroutines of
// the task go on that wait for nothing but a place.
func (e *Engine) fill(w *Worker) {
	if w == nil || w.place.vacant.Of() == nil {
		return
	}
	if found, ok := e.claimFor(w); ok {
		e.lend(w, found)
		return
	}
	for u := w; u != nil && w.isVacant(); u = u.carries {
		u.recallLingering()
	}
	if e.lanes != nil {
		e.fillCarried(w)
	}
}

// evict gives the place of w to work for which w's task waits, if it is lent to a task for which w's task may
// not wait. That borrower goes on with one more permit: it may wait for a lock that the task of w holds.
func (e *Engine) evict(w *Worker) {
	if !e.isTaken(w) {
		return
	}
	if found, ok := e.claimFor(w); ok {
		e.takeBack(w)
		e.lend(w, found)
	}
}

// isTaken reports whether the place of w is lent to a task for which w's task may not wait.
func (e *Engine) isTaken(w *Worker) bool {
	a := w.place.above
	return a != nil && (a.place.strange || a.place.moved && e.returning.First() != nil)
}

// takeBack makes the place of w, which is taken, vacant. The borrower goes on with one more permit.
func (e *Engine) takeBack(w *Worker) {
	e.unstack(w.place.above)
	e.reacquire()
	e.vacate(w)
}

// claimFor finds work for which the task of w waits, if the place of w may be lent.
func (e *Engine) claimFor(w *Worker) (found work, ok bool) {
	if e.lane != nil && (!w.mayClaim() || !w.mayLend()) {
		return found, false
	}
	return e.claimWork(w, false)
}

// mayClaim reports false if claimWork would certainly find nothing.
func (w *Worker) mayClaim() bool {
	l := w.place.awaits.First()
	return l != nil && !l.Of().spent || w.place.kins.First() != nil
}

// claimWork is claimFor without a look at the place of w. With begins it finds only a task that has yet to
// begin, and that is of e itself.
func (e *Engine) claimWork(w *Worker, begins bool) (found work, ok bool) {
	for l := w.place.awaits.First(); l != nil && !l.Of().spent; {
		want := l.Of()
		l = l.Next()
		if !want.current() || begins && want.returning() {
			w.lacks()
			continue
		}
		found, ok = e.claimFrom(want)
		if s := want.subtasks; !e.isStopped() && (s == nil || !ok && len(s.crowded) == 0) {
			e.spend(want)
		}
		if ok {
			break
		}
	}
	if !ok && !begins && w.place.kins.First() != nil {
		return e.claimKin(w)
	}
	return found, ok
}

// lend gives the place of w, which is vacant, to the work found for it.
func (e *Engine) lend(w *Worker, found work) {
	of := e
	if found.engine != nil {
		of = found.engine
	}
	if r := found.returning; r != nil {
		for ; r.engine != e; r = r.carrier {
			if r.isReturning() {
				r.engine.goOn(r, nil)
			} else { // it has its place there already
				r.engine.permits.release(false)
				r.engine.touch()
			}
		}
		if r.isReturning() {
			e.goOn(r, w)
		}
		return
	}
	u := of.recruit()
	u.take(found.from)
	if of == e {
		e.stack(u, w)
	}
	u.hand, u.mark = found.task, of.subtaskMark()
	u.free.Store(false)
	of.send(u, orderRun, w)
	if found.from != nil {
		of.eased(found.from)
	}
}

// lendAny lends one of the vacant places to the work found, even if the task of that place does not wait for
// it.
func (e *Engine) lendAny(found work) {
	w := e.vacantPlace()
	e.lend(w, found)
	for a := w.place.above; a != nil && a.place != nil && a.place.beneath != nil; a = a.carrier {
		a.place.strange = true
	}
}

// vacantPlace returns a worker whose task's place may be lent; nil if there is none. The caller has work for it.
func (e *Engine) vacantPlace() *Worker {
	for l := e.vacant.First(); l != nil; l = l.Next() {
		if e.lane == nil || l.Of().isBacked() {
			return l.Of()
		}
	}
	for l := e.vacant.First(); l != nil; l = l.Next() {
		l.Of().lacks()
	}
	return nil
}

// stack puts u on the place of w, which is vacant.
func (e *Engine) stack(u, w *Worker) {
	u.withPlace().beneath, w.place.above = w, u
	u.place.strange, u.place.moved = false, false
	e.occupy(w)
	e.lent++
	e.spare = max(e.spare, e.lent)
}

// relieve lends a place when all tasks that have begun wait. Otherwise none of them might ever go on: each
// may wait for another engine, whose tasks wait for this one. A task that waits for room for its subtasks does not go on here: where those wait for
// another engine, all of them would begin, however short the queue is.
func (e *Engine) relieve() {
	if e.lane != nil && e.vacancies > 0 {
		e.dropBegun() // before vacantPlace, which goes through all tasks on the place of a carrier
	}
	for e.vacancies > 0 && e.isNeedy() && !e.isStopped() && e.allWait() && e.vacantPlace() != nil {
		first := e.unbegun.First()
		if first == nil {
			found, ok := e.claimNeeded(e)
			if !ok {
				return
			}
			e.lendAny(found)
			continue
		}
		if found, ok := e.claimFrom(first.Of()); ok {
			e.lendAny(found)
		} else {
			e.unbegun.Remove(&first.Of().unbegun)
		}
	}
}

// dropBegun removes the first wants from unbegun, as long as these hold no work, until offer.
func (e *Engine) dropBegun() {
	for l := e.unbegun.First(); l != nil && !l.Of().mayHaveWork() && !l.Of().mayBeSplit(); l = e.unbegun.First() {
		e.unbegun.Remove(l)
	}
}

// allWait reports whether no place is free and the task at the top of each place waits, as far as the engine
// knows.
func (e *Engine) allWait() bool {
	n := e.permits.active()
	return n <= int(e.vacancies) && n >= e.limit && e.waking.Load() == 0
}

// resume ends the wait of one goroutine of w's task. When none of them waits any more, the task gets its
// place back. If it had given its place up, it gets a free place, or one more permit, even beyond the limit.
//
// by is a worker whose task has ended the wait and is over, or about to be. Its place may go to the task to
// which w's task has lent its own.
func (e *Engine) resume(w *Worker, by *Worker) {
	e.resumes(w, by)
	c := w.carrier
	if c == nil {
		return
	}
	by = e.own(by)
	if by != nil {
		if by.place == nil || !by.place.lost {
			by = nil
		} else {
			by = by.carrier
		}
	}
	c.engine.resume(c, by)
	c.engine.touch()
	if !w.place.without {
		w.turns(true)
	}
}

func (e *Engine) resumes(w *Worker, by *Worker) {
	p := w.place
	if p.waits--; p.waits > 0 {
		return
	}
	if p.since != 0 {
		p.away += time.Duration(e.queue.meter.now() - p.since)
		p.since = 0
	}
	if p.blocked > 0 { // Invariant: a task of which a goroutine is in GiveUp and none waits has no place
		switch {
		case p.without:
		case p.above == nil:
			e.occupy(w)
			e.parts(w)
		default:
			p.without = true
			e.unlink(w) // what it was lent to keeps it
		}
		return
	}
	e.nowWaits(w, -1)
	switch {
	case p.without:
		p.without = false
		e.reacquire()
		e.letReturn(w)
	case p.above == nil:
		e.occupy(w)
	default:
		e.replace(w, e.giver(by))
	}
}

// replace gives a place to the task of w, which has lent its own: the place of giver, if there is one. Then
// the borrower of w's place moves to the place of giver, and the task of w keeps its own, as it is likely to
// end later. The longer a task stays on the place of another one, the longer what that other task waits for
// needs one more place.
func (e *Engine) replace(w, giver *Worker) {
	p := w.place
	a := p.above
	if giver != nil && e.isExpected(giver) {
		giver = nil
	}
	switch {
	case giver == a && giver != nil:
		e.unstack(giver)
		e.lose(giver)
	case giver == nil || p.from == nil && giver.mayStandOn(w):
		// A task from the queue does not go on in a place on which another task waits. Its own place would
		// become free for one more task from the queue, and more such tasks than the limit would have begun.
		e.unstack(a)
		e.reacquire()
	case giver.mayStandOn(w):
		e.unlink(w)
		e.inherit(w, giver)
	default:
		e.unstack(a)
		e.inherit(a, giver)
		e.fill(a) // if the borrower waits, too, the tasks beneath it now may let work have their place
	}
}

// isExpected reports whether the task that has lent its place to w also waits for a task that wants to go on
// in that place.
func (e *Engine) isExpected(w *Worker) bool {
	if e.returning.First() == nil || w.place == nil || w.place.beneath == nil {
		return false
	}
	for l := w.place.beneath.place.awaits.First(); l != nil && !l.Of().spent; l = l.Next() {
		if l.Of().returning() {
			return true
		}
	}
	return false
}

// mayStandOn reports whether w has its place from below, directly or by way of other workers. It gives up
// after some steps, and then reports true.
func (w *Worker) mayStandOn(below *Worker) bool {
	for range 32 {
		if w == below {
			return true
		}
		if w.place == nil || w.place.beneath == nil {
			return false
		}
		w = w.place.beneath
	}
	return true
}

// inherit gives the place of giver to w, which has none.
func (e *Engine) inherit(w, giver *Worker) {
	g := giver.withPlace()
	if b := g.beneath; b != nil {
		w.place.beneath, b.place.above, g.beneath = b, w, nil
		w.place.moved = true
	}
	e.lose(giver)
}

// lose notes that w has given its place to another task. Until w has reported the end of its task, which may
// end more waits, its task counts as one that goes on.
func (e *Engine) lose(w *Worker) {
	if !w.place.lost {
		w.place.lost = true
		e.awaken()
	}
}

// giver returns by, if it is a worker of e and has a place to give; otherwise nil.
func (e *Engine) giver(by *Worker) *Worker {
	w := e.own(by)
	if w == nil || w.idle && w.carries == nil {
		return nil
	}
	if p := w.place; p != nil && (p.lost || p.without || p.waits > 0) {
		return nil
	}
	return w
}

// unstack removes w, which is at the top, from the place that was lent to it.
func (e *Engine) unstack(w *Worker) {
	w.place.beneath.place.above, w.place.beneath = nil, nil
	e.lent--
}

// unlink removes w from a place that its task has lent. The worker above w takes its position in the stack.
func (e *Engine) unlink(w *Worker) {
	a, b := w.place.above, w.place.beneath
	w.place.above, w.place.beneath, a.place.beneath = nil, nil, b
	if b != nil {
		b.place.above = a
		a.place.moved = true
	}
	e.lent--
}

// endTask is called when the task of w is over. It reports whether w still has a place: its own, or one that
// is lent to it.
func (e *Engine) endTask(w *Worker) bool {
	p := w.place
	if p == nil {
		return true
	}
	for x := w; x != nil; x = x.carrier {
		if x.waits() {
			x.engine.forsake(x)
			x.engine.touch()
		}
	}
	p.from, p.single, p.part = nil, nil, nil // after forsake, which removes the task from what they refer to
	has := !p.lost
	if p.lost {
		p.lost = false
		e.subside()
	}
	if p.beneath == nil && !w.borrows() {
		w.detour.Store(false)
	}
	return has
}

// waits reports whether goroutines of w's task wait, or are about to, or have given its place up.
func (w *Worker) waits() bool {
	p := w.place
	return p != nil && (p.waits > 0 || p.blocked > 0 || p.without || p.awaits.First() != nil || p.kins.First() != nil)
}

// forsake ends the waits of a task that is over although goroutines that it has left behind go on waiting.
func (e *Engine) forsake(w *Worker) {
	p := w.place
	p.term++
	e.recallAll(&p.lingers, nil) // such goroutines need no place any more
	if a := p.sole; a != nil {
		e.recall(a, nil) // no place serves for its wait any more
	}
	for l := p.awaits.First(); l != nil; l = p.awaits.First() {
		e.unhost(l.Of())
	}
	for l := p.kins.First(); l != nil; l = p.kins.First() {
		l.Of().want.unrelate()
	}
	switch {
	case p.without:
		e.lose(w)
	case p.above != nil:
		b := p.beneath
		e.unlink(w)
		e.lose(w)
		if b != nil {
			b.place.above.place.strange = true
			e.evict(b)
		}
	case p.waits > 0:
		e.occupy(w)
	}
	if p.waits > 0 || p.without {
		e.nowWaits(w, -1)
	}
	p.waits, p.blocked, p.without, p.sole = 0, 0, false, nil
	e.letReturn(w)
}

// nowWaits adds n to the number of tasks that wait. It counts only the engine's own tasks, not those of
// lanes.
func (e *Engine) nowWaits(w *Worker, n int32) {
	if w.carries == nil {
		e.suspended += n
	}
}

// own returns w if it is a worker of e, and nil otherwise.
func (e *Engine) own(w *Worker) *Worker {
	if w == nil || w.engine != e {
		return nil
	}
	return w
}
