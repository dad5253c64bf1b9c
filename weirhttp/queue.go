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
	number   uint64               // counts arrivals; newer is higher
	client   *client              // nil without keys
	links    [3]fifo.Link[waiter] // in queue.all, in the queue of its client, and in queue.order

	// The Limiter's lock guards verdict until ready is closed, which ends the wait of the request. After that
	// no goroutine writes verdict.
	verdict verdict
	ready   chan struct{}
}

// The indices of the links of a waiter.
const (
	ofAll = iota
	ofClient
	ofOrder
)

// priorityQueue holds waiters ordered by priority, and by arrival among equals.
type priorityQueue struct {
	links  int // index of the waiters' links that this queue uses
	levels tree.Tree[priority, level]
}

type priority int

// Before implements [tree.Key].
func (p priority) Before(other priority) bool { return p < other }

// level holds the waiters of one priority.
type level struct {
	node    tree.Node[priority, level]
	waiters fifo.List[waiter] // the oldest first; never empty
}

// spare is how many entries any table keeps room for. A table that a burst of requests has grown beyond that
// shrinks when three quarters of it are free, so that keys that clients invent cannot take memory forever.
const spare = 64

// roomy reports whether a table with this room and this number of entries should shrink.
func roomy(room, entries int) bool { return room > spare && entries <= room/4 }

// trim moves the elements of a slice that has become too large to a smaller array.
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

// first returns the waiter to serve next, or nil if there is none.
func (p *priorityQueue) first(newestFirst bool) *waiter {
	return p.levels.Last().Of().end(newestFirst)
}

// last returns the waiter to serve after all others, or nil if there is none.
func (p *priorityQueue) last(newestFirst bool) *waiter {
	return p.levels.First().Of().end(!newestFirst)
}

// end returns the newest or the oldest waiter, or nil if v is nil.
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

// queue holds the waiting requests, and knows which of them may run: without keys all of them; with keys,
// those of the clients that are due.
type queue struct {
	size        int
	newestFirst bool

	waiting  int
	arrivals uint64
	all      priorityQueue
	order    fifo.List[waiter] // by arrival

	clients // empty without keys
}

// push adds a waiter, even if the queue is full.
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

// remove removes a waiter. It keeps the waiter's client, even if that client has no other request.
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

// next returns the waiter to run next, or nil if none may run.
func (q *queue) next() *waiter {
	if !q.hasKeys {
		return q.all.first(q.newestFirst)
	}
	if len(q.due.clients) == 0 {
		return nil
	}
	return q.due.first(0)
}

// room decides whether a request with this priority may wait, and otherwise returns why not. If there is room
// for only one of the two, room returns the waiter that the request displaces.
func (q *queue) room(c *client, priority int) (victim *waiter, v verdict) {
	switch {
	case q.size > 0 && q.full(c): // before the next case: displacing another client's request would add to those of c
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
