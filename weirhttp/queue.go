package weirhttp

import (
	"time"

	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/tree"
)

// waiter is a request that waits.
type waiter struct {
	priority int
	came     time.Time
	number   uint64               // in the order of arrival
	client   *client              // nil without keys
	links    [3]fifo.Link[waiter] // in the queue of all, in that of its client, and in the order of arrival

	// The Limiter's lock guards verdict until ready is closed, which happens when the request
	// waits no longer. After that no goroutine writes it.
	verdict verdict
	ready   chan struct{}
}

// The links of a waiter.
const (
	ofAll = iota
	ofClient
	ofOrder
)

// priorityQueue has waiters in their order: by priority, and by arrival among equals.
type priorityQueue struct {
	links  int // which links of the waiters are this queue's
	levels tree.Tree[priority, level]
}

type priority int

// Before implements [tree.Key].
func (p priority) Before(other priority) bool { return p < other }

// level has the waiters of one priority.
type level struct {
	node    tree.Node[priority, level]
	waiters fifo.List[waiter] // the oldest first; never empty
}

// spare is how many entries any table keeps room for. A table that a burst of requests has grown
// beyond that gives memory back when three quarters are free, so that keys that
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

// push adds the newest waiter.
func (p *priorityQueue) push(w *waiter) {
	at := priority(w.priority)
	v := p.levels.Find(at)
	if v == nil {
		v = new(level)
		p.levels.Add(&v.node, v, at)
	}
	v.waiters.Append(&w.links[p.links], w)
}

func (p *priorityQueue) remove(w *waiter) {
	v := p.levels.Find(priority(w.priority))
	if v.waiters.Remove(&w.links[p.links]); v.waiters.First() == nil {
		p.levels.Remove(&v.node)
	}
}

// first returns the waiter to be served next, nil if there is none.
func (p *priorityQueue) first(newestFirst bool) *waiter {
	return p.levels.Last().Of().end(newestFirst)
}

// last returns the waiter to be served after all others, nil if there is none.
func (p *priorityQueue) last(newestFirst bool) *waiter {
	return p.levels.First().Of().end(!newestFirst)
}

// end returns the newest waiter, or the oldest; nil if v is.
func (v *level) end(newest bool) *waiter {
	switch {
	case v == nil:
		return nil
	case newest:
		return v.waiters.Last().Of()
	default:
		return v.waiters.First().Of()
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
	order    fifo.List[waiter] // of arrival

	clients // all empty without keys
}

// push adds a waiter, also beyond the size.
func (q *queue) push(w *waiter) {
	q.arrivals++
	w.number = q.arrivals
	q.waiting++
	q.all.push(w)
	q.order.Append(&w.links[ofOrder], w)
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
	q.order.Remove(&w.links[ofOrder])
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
