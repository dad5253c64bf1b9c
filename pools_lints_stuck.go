package weir

import (
	"fmt"
	"iter"
	"time"
)

// lintLook is one look for mistakes, at one pool or at all of them.
type lintLook struct {
	longer time.Duration
	stacks func() map[string][]taskStack // by the labels of their workers
	used   map[*core]int                 // the results of usedUp
}

func newLintLook(longer time.Duration, stacks func() map[string][]taskStack) *lintLook {
	return &lintLook{longer, stacks, make(map[*core]int)}
}

// hasPlace reports whether the task counts against the limit of its pool.
func (r Running) hasPlace() bool { return r.Waits != "blocking" && r.Waits != "place" }

// stuck returns how many tasks wait to start, if none of them can, and why. Otherwise it returns 0.
func (l *lintLook) stuck(i PoolInfo) (behind int, why string) {
	for _, c := range i.of().queues() {
		paused := c.pausedAt()
		n := 0
		for lane := range c.family() {
			n += lane.queued(paused != nil)
		}
		switch {
		case n == 0:
			continue
		case paused == i.of().base():
			why = "the pool is paused"
		case paused != nil:
			why = "a pool above it is paused"
		default:
			waiting := l.usedUpAt(c)
			if waiting == 0 {
				return 0, ""
			}
			why = fmt.Sprintf("all %d that have a place have waited for longer than %v", waiting, l.longer)
		}
		behind += n
	}
	return behind, why
}

// pausedAt returns the pool that is paused, of c and those above it; nil if none is.
func (c *core) pausedAt() *core {
	for ; c != nil; c = c.above {
		if c.glance().Paused {
			return c
		}
	}
	return nil
}

// usedUpAt returns how many tasks wait in the places of c, or of a pool above it, if these have all the places there. Otherwise it
// returns 0.
func (l *lintLook) usedUpAt(c *core) (waiting int) {
	for ; c != nil && waiting == 0; c = c.above {
		waiting = l.usedUp(c)
	}
	return waiting
}

// usedUp is usedUpAt for c alone.
func (l *lintLook) usedUp(c *core) (waiting int) {
	waiting, known := l.used[c]
	if known {
		return waiting
	}
	away, suspended, running := 0, 0, 0
	for lane := range c.family() {
		s := lane.glance()
		suspended += s.Suspended
		running += s.Running
		for _, r := range lane.longer(l.longer) {
			switch {
			case r.Waits == "":
			case r.hasPlace():
				waiting++
			default:
				away++
			}
		}
	}
	if running > 0 || waiting < c.glance().Limit || waiting+away < suspended { // the others have not waited for as long
		waiting = 0
	}
	l.used[c] = waiting
	return waiting
}

// family yields the pool and the lanes below it.
func (c *core) family() iter.Seq[*core] {
	return func(yield func(*core) bool) {
		if !yield(c) {
			return
		}
		for l := range c.lanes() {
			for below := range l.base().family() {
				if !yield(below) {
					return
				}
			}
		}
	}
}

// queued counts the tasks that wait to start, with or without those that wait for a token.
func (c *core) queued(throttled bool) int {
	s := c.glance()
	if s.Throttled && !throttled {
		return 0
	}
	return s.Queued + s.Waiting
}

// behind implements observed.
func (c *core) behind() int { return c.queued(false) }

// queues implements observed.
func (c *core) queues() []*core { return []*core{c} }

// behind implements observed.
func (k *observedKeyed[K]) behind() (n int) {
	for _, c := range k.queues() {
		n += c.behind()
	}
	return n
}

// queues returns the lanes of the keys: the lane above them has no tasks of its own.
func (k *observedKeyed[K]) queues() (list []*core) {
	lanes, _ := k.lanes()
	for _, l := range lanes {
		list = append(list, &l.pool.core)
	}
	return list
}
