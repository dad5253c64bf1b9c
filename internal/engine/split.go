package engine

import "github.com/64ed045f/weir/internal/fifo"

// splits are the split tasks of one set of subtasks that lack a permit of the same engine, or one such task that others may wait for alone.
//
// A task of a lane that is back from GiveUp gets its permits from its lane upwards. It is split while it has those below and waits for one more:
// the worker of the engine that lacks the permit is in Engine.returning, and it carries that of the lane.
type splits struct {
	engine   *Engine
	set      *Subtasks // nil for a single task
	single   *Single
	carriers fifo.List[Worker] // the workers of engine, in the order in which their tasks came there
	link     fifo.Link[splits] // in engine.lanes.splits: there if it has carriers, and a task of the family waits for the set or the single task
}

// returnees are the tasks of a set that are back from GiveUp and want to go on.
type returnees struct {
	here  fifo.List[Worker] // the workers of those that lack a permit of the set's engine
	above []*splits         // those that are split: an entry for each engine to which one of them has come, often without carriers
}

// returnees returns s.returns, which it makes if there are none.
func (s *Subtasks) returnees() *returnees {
	if s.returns == nil {
		s.returns = new(returnees)
	}
	return s.returns
}

// back returns the first worker whose task is back from GiveUp, and lacks a permit of the engine of s; nil if there is none.
func (s *Subtasks) back() *Worker {
	if s.returns == nil {
		return nil
	}
	return s.returns.here.First().Of()
}

// back returns the worker of the task, if that is back from GiveUp and lacks a permit of its own engine.
func (s *Single) back() *Worker {
	if w := s.returning; w != nil && w.isReturning() {
		return w
	}
	return nil
}

// leaves notes that the task has a permit that it lacked. While a goroutine of the task waits, the task may lack permits of several engines at
// once, and get them in any order.
func (s *Single) leaves() {
	for w := s.returning; w != nil; w = w.carrier {
		if w.isReturning() {
			return
		}
	}
	s.returning = nil
}

// splitIn returns the entry in which the split tasks of w are that lack a permit of e; nil if there are none.
func (w *Want) splitIn(e *Engine) *splits {
	if s := w.subtasks; s != nil {
		if s.returns != nil {
			return s.returns.in(e)
		}
		return nil
	}
	for c := w.single.of.returning; c != nil; c = c.carrier {
		if c.engine == e {
			return c.place.splits
		}
	}
	return nil
}

// mayBeSplit reports false if no task of w is split.
func (w *Want) mayBeSplit() bool {
	if s := w.subtasks; s != nil {
		return s.returns != nil && len(s.returns.above) > 0
	}
	return w.single.of.returning != nil
}

func (r *returnees) in(e *Engine) *splits {
	for _, s := range r.above { // no more than there are lanes one in the other
		if s.engine == e {
			return s
		}
	}
	return nil
}

// splitsOf returns the entry for the task of u, which lacks a permit of e; nil if no task can wait for that task.
func (e *Engine) splitsOf(u *Worker) *splits {
	set, single := u.place.part, u.place.single
	switch {
	case set != nil:
		r := set.returnees()
		s := r.in(e)
		if s == nil {
			s = &splits{engine: e, set: set}
			r.above = append(r.above, s)
		}
		return s
	case single != nil:
		return &splits{engine: e, single: single}
	default:
		return nil
	}
}

// joinsSplits notes that c is in e.returning, with a split task.
func (e *Engine) joinsSplits(c *Worker) {
	p := c.place
	p.unused = p.returner != nil // otherwise a goroutine of the task waits, and its permits may be lent
	u := c
	for u.carries != nil {
		if u = u.carries; p.unused {
			u.engine.unused.Append(&u.place.sibling, u)
		}
	}
	if p.unused {
		e.lanes.unused = append(e.lanes.unused, c)
	}
	s := e.splitsOf(u)
	if s == nil {
		return
	}
	if s.single != nil {
		s.single.returning = u
	}
	p.splits = s
	s.carriers.Append(&p.sibling, c)
	s.list()
}

// leavesSplits undoes joinsSplits.
func (e *Engine) leavesSplits(c *Worker) {
	c.leavesUnused()
	p := c.place
	s := p.splits
	p.splits = nil
	if s == nil {
		return
	}
	if s.single != nil {
		s.single.leaves()
	}
	if s.carriers.Remove(&p.sibling); s.carriers.First() == nil {
		s.unlist()
	}
}

// leavesUnused notes that the permits which a split task has below w are of use: a goroutine of the task waits, or the task is split no more.
func (w *Worker) leavesUnused() {
	for u := w.carries; u != nil && w.place.unused; u = u.carries {
		u.engine.unused.Remove(&u.place.sibling)
	}
	w.place.unused = false
}

// relist must follow the start of a wait for w by a task of the family: the places of more tasks may be for the split tasks of w.
func (w *Want) relist() {
	if s := w.subtasks; s == nil {
		for c := w.single.of.returning; c != nil; c = c.carrier {
			c.place.splits.list()
		}
	} else if s.returns != nil {
		for _, split := range s.returns.above {
			split.list()
		}
	}
}

// list makes s one of the entries that admitFromBelow looks at, if it has carriers.
func (s *splits) list() {
	if s != nil && s.carriers.First() != nil && s.link.Of() == nil {
		s.engine.lanes.splits.Append(&s.link, s)
		s.engine.root().lanes.lacking++
	}
}

// unlist undoes list.
func (s *splits) unlist() {
	if s.link.Of() != nil {
		s.engine.lanes.splits.Remove(&s.link)
		s.engine.root().lanes.lacking--
	}
}

// isHosted reports whether a task of the family waits for the tasks of s, as far as the engine knows.
func (s *splits) isHosted() bool {
	if s.set != nil {
		return s.set.want.isHosted()
	}
	for l := s.single.wants.First(); l != nil; l = l.Next() {
		if l.Of().isHosted() {
			return true
		}
	}
	return false
}

func (w *Want) isHosted() bool { return w.host != nil || w.kin != nil }

// admitFromBelow gives a split task that lacks a permit of e the place of a task that waits for it. A task that lacks a permit of its own engine
// gets that from fill, which finds it by what the other task waits for; but a split task has that one already. Where no task waits, none has a place
// for another, and admit does not look. Of a thousand tasks of one set all have the same tasks waiting for them, so one look is enough for all.
func (e *Engine) admitFromBelow() bool {
	for l := e.lanes.splits.First(); l != nil; {
		s := l.Of()
		l = l.Next()
		b := e.lender(s)
		if b == nil && s.isHosted() {
			continue
		}
		s.unlist() // until relist
		if b != nil {
			s.list() // behind those that have not had a turn
			e.goOn(s.carriers.First().Of(), b.clear())
			return true
		}
	}
	return false
}

// lender returns a worker of e whose task, or one that it carries, waits for the tasks of s, and whose place may be cleared for one of them;
// nil if there is none.
func (e *Engine) lender(s *splits) (b *Worker) {
	if s.set != nil {
		return e.lenderFor(&s.set.want)
	}
	for l := s.single.wants.First(); l != nil && b == nil; l = l.Next() {
		b = e.lenderFor(&l.Of().Want)
	}
	return b
}

// lenderFor is lender for one of the wants for the task, and for those of the tasks that wait for the ones that wait.
func (e *Engine) lenderFor(w *Want) *Worker {
	for w != nil {
		b, current := w.host, w.current()
		if k := w.kin; k != nil {
			b, current = k.host, k.current()
		}
		for b != nil && b.engine != e {
			b = b.carrier
		}
		if b != nil && current && b.mayBeCleared() {
			return b
		}
		s := w.subtasks
		if s == nil || w.host == nil || w.via != nil || s.within == nil {
			return nil
		}
		w = &s.within.want
	}
	return nil
}

// backBetween returns a worker that carries a split task of want, and whose task lacks a permit of an engine between e and above; nil if there is
// none.
func (e *Engine) backBetween(above *Engine, want *Want) *Worker {
	for x := e.parent(); x != above; x = x.parent() {
		if s := want.splitIn(x); s != nil && s.carriers.First() != nil {
			return s.carriers.First().Of()
		}
	}
	return nil
}

// offerSplit offers, in the lanes in which split tasks have permits that they cannot use yet, what may have lacked those.
func (e *Engine) offerSplit() {
	for len(e.lanes.unused) > 0 {
		last := len(e.lanes.unused) - 1
		c := e.lanes.unused[last]
		e.lanes.unused[last] = nil
		e.lanes.unused = e.lanes.unused[:last]
		for w := c.carries; w != nil && c.isReturning(); w = w.carries {
			w.engine.offerAgain(w.engine)
		}
	}
}

// firstUnused returns a worker of e, a lane, whose task has a permit there that it cannot use yet, as it is split; nil if there is none.
func (e *Engine) firstUnused() *Worker {
	for l := e.unused.First(); l != nil; l = l.Next() {
		if w := l.Of(); w.isUnused() {
			return w
		}
	}
	return nil
}

// isUnused reports whether the permits of the split task of w, from the engine of w upwards, are of no use to any other goroutine or task.
func (w *Worker) isUnused() bool {
	for ; !w.isReturning(); w = w.carrier {
		if !w.hasAlone() {
			return false
		}
	}
	return true
}

// returnsAbove reports whether the task of w, which is back from GiveUp, has its permit there and lacks one of an engine above.
func (w *Worker) returnsAbove() bool {
	if w.carries != nil || w.place.without {
		return false
	}
	for c := w.carrier; c != nil; c = c.carrier {
		if c.isReturning() {
			return true
		}
	}
	return false
}

// hasAlone reports whether w has a permit for its task, or for the one that it carries, and nothing else depends on that.
func (w *Worker) hasAlone() bool {
	p := w.place
	return p.waits == 0 && p.blocked == 0 && p.beneath == nil && p.above == nil && !p.without && !p.lost
}

// takeUnused takes the permits of e, and of the engines between, from the task of w, which firstUnused has returned. The task then waits for all of
// its places again, before the others of e: it would hold up a task that has one further up and needs the permit.
func (e *Engine) takeUnused(w *Worker) {
	u := w
	for ; !u.isReturning(); u = u.carrier {
		if u != w {
			u.place.blocked++
		}
		u.place.without = true
		u.engine.nowWaits(u, 1)
		u.engine.permits.release(false)
		u.engine.touch()
	}
	u.engine.hasReturned(u)
	u.engine.touch()
	u.place.blocked++
	w.place.returner, u.place.returner = u.place.returner, nil
	e.returning.Prepend(&w.place.returning, w)
	e.joinsReturning(w)
}
