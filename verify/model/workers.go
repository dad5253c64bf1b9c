package model

import (
	"fmt"
	"time"
)

// workers is the workers of a pool: a task takes the one that has rested for the shortest time, and
// a new one only if none rests.
type workers struct {
	all  int
	free int             // that have nothing in hand, and look for a task
	idle []time.Duration // since when the others without a task rest, the longest first

	// loose says that it is open which workers rest, and since when. A worker may be woken for the place
	// in the queue of a task that was removed, and it is not promised when workers end that
	// have nothing to do while a closed pool still runs tasks.
	loose  bool
	ghosts int // places of removed tasks may stand among so many accepted ones
}

// Agrees reports whether the workers of the library are those of the model. What the model
// cannot know it copies from the library.
func (p *Pool) Agrees(workers, idle int) bool {
	c := &p.workers
	if !c.loose {
		return workers == c.all && idle == len(c.idle)
	}
	busy := len(p.begun)
	if workers != busy+idle || idle > 0 && workers > p.Limit || p.Closed && p.empty() && workers > 0 {
		return false
	}
	c.all, c.idle, c.loose = workers, make([]time.Duration, idle), idle > 0 || c.ghosts > 0
	return true
}

// take finds a worker for a task.
func (c *workers) take() {
	switch {
	case c.free > 0:
		c.free--
	case len(c.idle) > 0:
		c.idle = c.idle[:len(c.idle)-1]
	default:
		c.all++
	}
}

// rest lets the free workers rest, or end if they must not stay.
func (c *workers) rest(now time.Duration, stay bool, limit int) {
	for ; c.free > 0; c.free-- {
		if stay && c.all <= limit {
			c.idle = append(c.idle, now)
		} else {
			c.all--
		}
	}
}

// expire ends the workers that have rested for the time-out.
func (c *workers) expire(now, timeout time.Duration) {
	n := 0
	for n < len(c.idle) && now-c.idle[n] >= timeout {
		n++
	}
	c.end(n)
}

func (c *workers) end(n int) {
	c.all -= n
	c.idle = c.idle[n:]
}

// Workers says what the model knows of the workers, for reports.
func (p *Pool) Workers() string { return fmt.Sprintf("%+v at %v", p.workers, p.Now) }

// Expiry is when the next worker ends if nothing happens, and false if none will.
func (p *Pool) Expiry() (at time.Duration, ok bool) {
	if p.workers.loose || len(p.workers.idle) == 0 {
		return 0, false
	}
	return p.workers.idle[0] + p.IdleTimeout, true
}
