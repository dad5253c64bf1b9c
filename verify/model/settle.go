package model

// Choice tells which of several tasks was chosen to start, where weir leaves the choice open: it
// reports whether the library chose t. Nil stands for always the first.
type Choice func(t *Task) bool

// Settle does what follows from the last step, until the world is at rest.
func (p *Pool) Settle(chosen Choice) {
	if chosen == nil {
		chosen = func(*Task) bool { return true }
	}
	if p.above != nil {
		p.above.Settle(chosen)
		return
	}
	// Where several places are free at once, a lane may get the second one before one of a higher priority asks for it: see weir.Priority.
	p.several = p.Limit-p.places() > 1
	for p.step(chosen) {
		continue
	}
	for _, q := range p.family() {
		q.rest()
	}
}

// rest is what follows when nothing more starts.
func (p *Pool) rest() {
	p.workers.rest(p.Now, p.IdleTimeout > 0 && (!p.Closed || len(p.queue) > 0), p.Limit)
	p.workers.expire(p.Now, p.IdleTimeout)
	if p.Closed && len(p.queue) == 0 {
		p.workers.end(len(p.workers.idle))
	}
	p.answer()
}

// step ends one batch, starts one task, or lets one submitter in. It reports whether it found one.
func (p *Pool) step(chosen Choice) bool {
	for _, g := range p.groups {
		if g.over() {
			return true
		}
	}
	for _, o := range p.onces {
		if o.over() {
			return true
		}
	}
	if p.comeBack() || p.begin(chosen) {
		return true
	}
	for _, q := range p.family() {
		if len(q.line) > 0 && q.room() {
			c := q.line[0]
			q.line = q.line[1:]
			q.accept(c)
			return true
		}
	}
	return false
}

// comeBack gives a free place to the first task that returns, also in a pause.
func (p *Pool) comeBack() bool {
	if len(p.comers) == 0 || p.places() >= p.Limit {
		return false
	}
	p.comers[0].State = Running
	p.comers = p.comers[1:]
	return true
}

// begin gives a free place away, to the first in the best queue.
func (p *Pool) begin(chosen Choice) bool {
	pools := p.best(p.several)
	if len(pools) == 0 {
		return false
	}
	q, most := pools[0], -1
	for _, other := range pools { // of those that were chosen the one first with which most tasks were dropped: they take no place
		if n := other.drops(chosen); n > most && chosen(other.Next()) {
			q, most = other, n
		}
	}
	q.dequeue(q.next())
	return true
}

// drops is how many tasks of the queue were chosen to be dropped.
func (p *Pool) drops(chosen Choice) (n int) {
	for _, t := range p.queue {
		if t.void() && chosen(t) {
			n++
		}
	}
	return n
}

// dequeue starts a task that was queued, unless it was cancelled.
func (p *Pool) dequeue(t *Task) {
	if !t.void() {
		p.start(t)
		return
	}
	p.workers.loose, p.workers.ghosts = true, int(p.accepted)
	if t.Batch != nil {
		t.Batch.strike(t)
	} else {
		p.takeBack(t, t.Context.Cause)
	}
}

func (p *Pool) start(t *Task) {
	p.workers.take()
	if t.number > p.workers.ghosts {
		p.workers.ghosts = 0
	}
	t.State, t.Pool = Running, p
	p.begun = append(p.begun, t)
}

// answer ends the calls that have nothing to wait for any more.
func (p *Pool) answer() {
	waits := p.waits[:0]
	for _, c := range p.waits {
		if len(c.awaited) == 0 {
			c.end(nil)
		}
		if !c.Done {
			waits = append(waits, c)
		}
	}
	p.waits = waits
	if p.Closed && p.empty() {
		for _, c := range p.closes {
			c.end(nil)
		}
		p.closes = nil
	}
}
