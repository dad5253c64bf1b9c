package weirhttp

import (
	"cmp"
	"slices"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// waiter is a request that waits.
type waiter struct {
	priority int
	came     time.Time
	number   uint64               // in the order of arrival
	client   *client              // nil without keys
	links    [2]fifo.Link[waiter] // in the queue of all and in that of its client

	// The Limiter's lock guards verdict until ready is closed, which happens when the request
	// waits no longer. After that no goroutine writes it.
	verdict verdict
	ready   chan struct{}
}

// The links of a waiter.
const (
	ofAll = iota
	ofClient
)

// priorityQueue has waiters in their order: by priority, and by arrival among equals.
type priorityQueue struct {
	links  int     // which links of the waiters are this queue's
	levels []level // in ascending order of priority, none empty
}

// level has the waiters of one priority.
type level struct {
	priority int
	waiters  fifo.List[waiter] // the oldest first
}

// spare is how many entries any table keeps room for. A table that a burst of requests has grown
// beyond that gives memory back when three quarters are free, so that keys and priorities that
// clients make up cannot take memory for good.
const spare = 64

// roomy reports whether a table with room for that many entries is to be made smaller.
func roomy(room, entries int) bool { return room > spare && entries <= room/4 }

// trim moves what is left of a slice that has grown to a smaller array.
func trim[T any](s []T) []T {
	if !roomy(cap(s), len(s)) {
		return s
	}
	return append(make([]T, 0, 2*len(s)), s...)
}

func (p *priorityQueue) find(priority int) (int, bool) {
	return slices.BinarySearchFunc(p.levels, priority, func(v level, priority int) int {
		return cmp.Compare(v.priority, priority)
	})
}

// push adds the newest waiter.
func (p *priorityQueue) push(w *waiter) {
	i, found := p.find(w.priority)
	if !found {
		p.levels = slices.Insert(p.levels, i, level{priority: w.priority})
	}
	p.levels[i].waiters.Append(&w.links[p.links], w)
}

func (p *priorityQueue) remove(w *waiter) {
	i, _ := p.find(w.priority)
	waiters := &p.levels[i].waiters
	if waiters.Remove(&w.links[p.links]); waiters.First() == nil {
		p.levels = trim(slices.Delete(p.levels, i, i+1))
	}
}

// first returns the waiter to be served next, nil if there is none.
func (p *priorityQueue) first(newestFirst bool) *waiter {
	switch {
	case len(p.levels) == 0:
		return nil
	case newestFirst:
		return p.levels[len(p.levels)-1].waiters.Last().Of()
	default:
		return p.levels[len(p.levels)-1].waiters.First().Of()
	}
}

// last returns the waiter to be served after all others, nil if there is none.
func (p *priorityQueue) last(newestFirst bool) *waiter {
	switch {
	case len(p.levels) == 0:
		return nil
	case newestFirst:
		return p.levels[0].waiters.First().Of()
	default:
		return p.levels[0].waiters.Last().Of()
	}
}

// queue has the requests that wait, and knows which of them may run: all; with keys, those of the
// clients that are due.
type queue struct {
	size        int
	newestFirst bool

	waiting  int
	arrivals uint64
	all      priorityQueue

	clients // all empty without keys
}

// push adds a waiter, also beyond the size.
func (q *queue) push(w *waiter) {
	q.arrivals++
	w.number = q.arrivals
	q.waiting++
	q.all.push(w)
	if c := w.client; c != nil {
		c.waiting++
		c.waiters.push(w)
		q.update(c)
	}
}

// remove takes a waiter out. Its client stays, though it may be idle.
func (q *queue) remove(w *waiter) {
	q.waiting--
	q.all.remove(w)
	if c := w.client; c != nil {
		c.waiting--
		c.waiters.remove(w)
		q.update(c)
	}
}

// next returns the waiter that is to run next, nil if none may.
func (q *queue) next() *waiter {
	if !q.hasKeys {
		return q.all.first(q.newestFirst)
	}
	if len(q.due.clients) == 0 {
		return nil
	}
	return q.due.first(0)
}

// room reports whether a request with this priority may wait, or why not, and which one it displaces
// if there is room for only one of the two.
func (q *queue) room(c *client, priority int) (victim *waiter, v verdict) {
	switch {
	case q.size > 0 && q.full(c): // before the next case: a client that displaces another's request adds to its own
		v = keyFull
		if c != nil {
			victim = c.waiters.last(q.newestFirst)
		}
	case q.waiting >= q.size:
		v = queueFull
		victim = q.all.last(q.newestFirst)
	default:
		return nil, undecided
	}
	if victim != nil && (priority > victim.priority || priority == victim.priority && q.newestFirst) {
		return victim, undecided
	}
	return nil, v
}
