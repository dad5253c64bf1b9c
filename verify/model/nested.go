package model

import "slices"

// A place is a stack of tasks. The one on top runs or waits. Those beneath it wait, and have lent it
// the place.

// place reports whether there is one under the limit that no task has.
func (p *Pool) place() bool {
	return !p.Paused && p.places() < p.Limit && (p.above == nil || p.above.place())
}

// places is how many there are now: one for each task at the bottom that has not given it up, also in the lanes.
func (p *Pool) places() (n int) {
	for _, t := range p.begun {
		if t.beneath == nil && t.State != Away && t.State != Returning {
			n++
		}
	}
	for _, l := range p.lanes {
		n += l.places()
	}
	return n
}

// suspend makes a task wait for b, or for the limit of its group.
func (t *Task) suspend(b *Batch) { t.State, t.awaits = Suspended, b }

// resume ends the wait of t, if it waits, and lets it go on in its place. If that is lent, what has it moves to that of
// by, a task of the pool that ends and has ended the wait; else to one more.
func (t *Task) resume(by *Task) {
	if t == nil || t.State != Suspended {
		return
	}
	t.State, t.awaits = Running, nil
	moves := t.above
	switch {
	case moves == nil:
		return
	case by == nil || by == moves || by.standsOn(t) && t.Batch.group.Host == nil:
		t.above, moves.beneath = nil, nil
		return
	case by.standsOn(t):
		t.leave()
		moves = t
	default:
		t.above, moves.beneath = nil, nil
	}
	if below := by.beneath; below != nil {
		by.leave()
		moves.beneath, below.above = below, moves
	}
}

// standsOn reports whether t has its place from one that has it from one, and so on, that has it from below.
func (t *Task) standsOn(below *Task) bool {
	for ; t != nil; t = t.beneath {
		if t == below {
			return true
		}
	}
	return false
}

// leave takes t out of its place.
func (t *Task) leave() {
	if t.above != nil {
		t.above.beneath = t.beneath
	}
	if t.beneath != nil {
		t.beneath.above = t.above
	}
	t.above, t.beneath = nil, nil
}

// lend gives the place of a task that waits to one that it waits for, and reports whether there are
// two such. The limit does not matter: it may have been lowered. Of tasks that wait for each other the
// one below comes first, which has begun later.
func (p *Pool) lend(chosen Choice) bool {
	if p.Paused {
		return false
	}
	for _, t := range slices.Backward(p.begun) {
		if t.State != Suspended || t.above != nil {
			continue
		}
		if open := p.path(t.awaits); len(open) > 0 {
			u := open[max(0, slices.IndexFunc(open, chosen))]
			t.above, u.beneath = u, t
			p.startOpen(u)
			return true
		}
	}
	return false
}

// path returns the tasks that may start next for a task that waits for b: the first of b, and those
// of the groups for which tasks of b wait in turn. Which of them is open.
func (p *Pool) path(b *Batch) (open []*Task) {
	open = slices.Clone(b.open[:min(1, len(b.open))])
	for _, t := range p.begun {
		if t.Batch == b && t.State == Suspended {
			open = append(open, p.path(t.awaits)...)
		}
	}
	return open
}

// claims returns the subtasks that come before what is queued: the first of each group. Which of
// them is open.
func (p *Pool) claims() (claims []*Task) {
	for _, g := range p.groups {
		if len(g.batch.open) > 0 {
			claims = append(claims, g.batch.open[0])
		}
	}
	return claims
}

// startOpen starts the first subtask of a group.
func (p *Pool) startOpen(t *Task) {
	t.Batch.open = t.Batch.open[1:]
	p.start(t)
}
