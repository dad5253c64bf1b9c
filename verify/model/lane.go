package model

// AddLane makes l a lane of p. Until then it is a pool like any other. A lane has the places of the pool above it, and its own limit.
func (p *Pool) AddLane(l *Pool) {
	l.above = p
	p.lanes = append(p.lanes, l)
	l.workers.loose = true
	for ; p != nil; p = p.above {
		p.workers.loose = true // which of a family's workers rest is not modelled
	}
}

// inLanes is how many tasks of lanes have begun, each on a worker of p.
func (p *Pool) inLanes() (n int) {
	for _, l := range p.lanes {
		n += len(l.begun) + l.inLanes()
	}
	return n
}

// family returns p and the lanes below it, in the order in which Shutdown hands their tasks back.
func (p *Pool) family() []*Pool {
	all := []*Pool{p}
	for _, l := range p.lanes {
		all = append(all, l.family()...)
	}
	return all
}

// best returns the pools of the family one of which starts a task next: several if it is open which, as they have the same priority. The queue
// of p has priority 0, and what stands in a lane that of the lane. If all is set it returns all that may start one.
func (p *Pool) best(all bool) (best []*Pool) {
	if p.Paused || p.places() >= p.Limit {
		return nil
	}
	priority := 0
	if p.Next() != nil {
		best = []*Pool{p}
	}
	for _, l := range p.lanes {
		switch from := l.best(all); {
		case len(from) == 0 || len(best) > 0 && l.Priority < priority && !all:
		case len(best) > 0 && (l.Priority == priority || all):
			best = append(best, from...)
		default:
			best, priority = from, l.Priority
		}
	}
	return best
}

// next takes the task that a worker comes to next. Where the queue is a hand-over that is the task of the first submitter that waits.
func (p *Pool) next() *Task {
	if len(p.queue) == 0 {
		c := p.line[0]
		p.line = p.line[1:]
		p.accept(c)
	}
	t := p.queue[0]
	p.queue = p.queue[1:]
	return t
}
