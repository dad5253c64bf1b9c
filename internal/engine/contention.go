package engine

import (
	"time"

	"github.com/64ed045f/weir/internal/backoff"
)

// A take that meets others is slow: see package backoff. That is little where tasks are long. Where a task
// takes no longer than taking it, one goroutine that takes many in a row is faster than all of them at once.
// Then the others let it go on for a while: each backs off by what its last tasks were like.
const (
	mostPatient  = 16  // a worker lets others go first for at most 2^16 pauses, about 80 µs
	pausePerTask = 16  // and for at most this many pauses for each queued task: less than it takes to run them
	manyPauses   = 128 // a worker reports before it makes so many pauses or more
)

// contention is what the goroutine of a worker knows of others that take tasks from its ring. It is on that
// goroutine's stack.
type contention struct {
	clock time.Time
	some  bool          // backOff has something to look at
	level uint          // if not 0, the worker lets others go first for 2^level pauses
	lost  time.Duration // when the worker lost
	taken time.Duration // when it had the task in hand, if it had lost before
	took  time.Duration // how long it took from the loss to the task; else 0
}

// lose notes that another goroutine was faster, for the first time in this take.
func (c *contention) lose() { c.lost = time.Since(c.clock) }

// win notes that the worker has taken a task after it had lost.
func (c *contention) win() {
	c.some = true
	c.taken = time.Since(c.clock)
	c.took = c.taken - c.lost
}

// backOff makes w let others go first, if its last tasks took much less time than taking them did.
func (c *contention) backOff(w *Worker, r *ring) {
	n := c.patience(time.Since(c.clock), r.tailAt()-r.headAt())
	if n >= manyPauses {
		w.Report() // others may wait for the report
	}
	backoff.Pause(n)
}

// patience returns for how many pauses the worker lets others go first at time now, when queued tasks are in
// the queue.
func (c *contention) patience(now time.Duration, queued uint64) uint64 {
	switch {
	case c.took > 0 && now-c.taken < c.took/2:
		c.level = min(c.level+2, mostPatient)
	case c.level > 0:
		c.level--
	}
	c.took = 0
	if c.some = c.level > 0; !c.some {
		return 0
	}
	return min(1<<c.level, pausePerTask*queued)
}

// reset forgets all but the clock.
func (c *contention) reset() { *c = contention{clock: c.clock} }
