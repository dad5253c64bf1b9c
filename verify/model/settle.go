package model

import "slices"

// Choice tells which of several tasks was chosen to start, where weir leaves the choice open: it
// reports whether the library chose t. Nil stands for always the first.
type Choice func(t *Task) bool

// Settle does what follows from the last step, until the world is at rest.
func (p *Pool) Settle(chosen Choice) {
	if chosen == nil {
		chosen = func(*Task) bool { return true }
	}
	for p.step(chosen) {
		continue
	}
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
	if p.comeBack() || p.lend(chosen) || p.begin(chosen) {
		return true
	}
	if len(p.line) > 0 && p.room() {
		c := p.line[0]
		p.line = p.line[1:]
		p.accept(c)
		return true
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

// begin gives a free place away: to a subtask, and else to the first in the queue.
func (p *Pool) begin(chosen Choice) bool {
	if !p.place() {
		return false
	}
	if claims := p.claims(); len(claims) > 0 {
		p.startOpen(claims[max(0, slices.IndexFunc(claims, chosen))])
		return true
	}
	if len(p.queue) == 0 {
		return false
	}
	t := p.queue[0]
	p.queue = p.queue[1:]
	p.dequeue(t)
	return true
}

// dequeue starts a task that was queued, unless it was cancelled.
func (p *Pool) dequeue(t *Task) {
	if !t.void() {
		p.start(t)
		return
	}
	p.workers.loose, p.workers.ghosts = true, int(p.accepted)
	t.Batch.strike(t)
}

func (p *Pool) start(t *Task) {
	p.workers.take()
	if t.number > p.workers.ghosts {
		p.workers.ghosts = 0
	}
	t.State = Running
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
