package model

import "slices"

// leave makes a task that blocks in c give its place up.
func (p *Pool) leave(t *Task, c *Call) {
	i := slices.Index(p.running, t)
	p.running = slices.Delete(p.running, i, i+1)
	p.aside++
	p.crew.loose = true
	t.State, t.Blocked = Aside, c
}

// comeBack makes a task that has waited want a place again. When it has one, it does then.
func (p *Pool) comeBack(t *Task, then func()) {
	t.State, t.then = Returning, then
	p.returning = append(p.returning, t)
}

// lend gives the place of a task that waits for b to the first task of b, before any other.
func (p *Pool) lend(b *Batch) {
	if len(b.open) > 0 && p.place() {
		t := b.open[0]
		b.open = b.open[1:]
		p.start(t)
	}
}

// claims returns who comes before what is queued: tasks that have waited, which even a pause
// does not hold, and the first subtasks of those that run. Which of them is open.
func (p *Pool) claims() []*Task {
	claims := slices.Clone(p.returning)
	if p.Paused {
		return claims
	}
	for _, g := range p.groups {
		if len(g.batch.open) > 0 {
			claims = append(claims, g.batch.open[0])
		}
	}
	return claims
}

// grant gives a place to one of those who claim one.
func (p *Pool) grant(t *Task) {
	if t.State != Returning {
		t.Batch.open = t.Batch.open[1:]
		p.start(t)
		return
	}
	p.returning = slices.DeleteFunc(p.returning, func(r *Task) bool { return r == t })
	p.aside--
	p.running = append(p.running, t)
	t.State, t.Blocked = Running, nil
	t.then()
}
