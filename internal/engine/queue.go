package engine

import (
	"math"
	"sync/atomic"
)

// The first ring is small, so that a pool for ten tasks costs little. In a lane it is smaller still, because
// there may be a million lanes. Each next ring is four times as large, up to the queue's capacity or to
// largestRing. After a flood, an unbounded queue keeps one ring of largestRing slots.
const (
	firstRing   = 32
	laneRing    = 4
	growth      = 4
	largestRing = 4096
)

// queue is a FIFO of exactly capacity places, as a chain of rings. It drops a ring that is used up, and
// appends a larger one to a ring that is full. A queue of at most largestRing places soon has them all in one
// ring, and never allocates again.
//
// The fast path uses the rings at head and tail directly. All methods need Engine.mu, except ready.
//
// Invariant: if the tail is not gated, then filling the tail ring cannot take the queue beyond its capacity.
// Fast pushes rely on it: they look at one ring only.
type queue struct {
	head atomic.Pointer[ring] // nil while the queue has no ring
	tail atomic.Pointer[ring]

	capacity int    // math.MaxInt: no bound
	meter    *meter // nil: no task is measured

	dead atomic.Int64 // places known to hold void tasks; they take no room

	headGated, tailGated bool // the gates that the engine asked for
	isLanes              bool // the first ring has the size for a lane

	// position and before are where positions and counts go on when there is no ring.
	position uint64
	before   uint64
}

// push adds v, unless the queue is full.
func (q *queue) push(v Task) outcome {
	if q.full() {
		return none
	}
	r := q.tail.Load()
	size := firstRing
	if q.isLanes {
		size = laneRing
	}
	size = min(size, q.capacity)
	if r != nil {
		o := r.push(v, true)
		if o == none {
			// Other submitters may have filled the ring by the fast path since push looked at the length.
			r.tail.Or(gate)
			defer q.regate()
			if q.full() {
				return none
			}
			o = r.push(v, true)
		}
		if o != none {
			return o
		}
		if r.count(r.tailAt())-r.count(r.headAt()) < uint64(len(r.slots)) {
			return unsettled // a consumer has yet to leave the slot at the tail
		}
		r.tail.Or(retired)
		q.position, q.before = r.tailAt(), r.count(r.tailAt())
		size = min(len(r.slots)*growth, q.fullRing())
	}
	next := newRing(size, q.position, q.before)
	next.measures(q.meter)
	next.push(v, true)
	// Both ends of a new ring are gated until regate has looked: the tail because of the invariant, the head
	// because advance stores a ring first.
	next.head.Or(gate)
	next.tail.Or(gate)
	if r == nil {
		q.head.Store(next)
	} else {
		r.next = next
	}
	q.tail.Store(next)
	q.regate()
	return moved
}

// full reports whether there is no room. The answer lasts only while the tail is gated.
func (q *queue) full() bool { return q.capacity == 0 || q.len()-int(q.dead.Load()) >= q.capacity }

// fullRing returns the size up to which rings grow.
func (q *queue) fullRing() int { return min(q.capacity, largestRing) }

// shed removes the void tasks at the head of the queue, calls gone for each, and reports whether there were
// any. The head must be gated.
func (q *queue) shed(void func(Task) bool, gone func(Task)) (some bool) {
	for {
		q.advance()
		r := q.head.Load()
		if r == nil {
			return some
		}
		pos := r.headAt()
		if s, ok := r.holds(pos); !ok || !void(s.value) {
			return some
		}
		v, _, _ := q.pop()
		gone(v)
		some = true
	}
}

// pop takes the oldest task. k is its mark, if it has one.
func (q *queue) pop() (v Task, k mark, ok bool) {
	q.advance()
	r := q.head.Load()
	if r == nil {
		return v, 0, false
	}
	v, _, k, o := r.pop(nil, nil)
	return v, k, o == moved
}

// pass counts one task that was never in the queue: it is accepted and taken at once. Only a queue of
// capacity 0 needs it.
func (q *queue) pass() {
	q.position++
	q.before++
}

// advance drops the rings that are used up.
func (q *queue) advance() {
	for r := q.head.Load(); r != nil && r.next != nil && r.usedUp(); r = q.head.Load() {
		q.head.Store(r.next)
		q.regate()
	}
}

// freeMemory frees the memory of an empty queue, and returns it: the last ring. If the queue holds tasks,
// freeMemory does nothing and returns nil.
func (q *queue) freeMemory() *ring {
	q.advance()
	r := q.head.Load()
	if r == nil || r.next != nil {
		return nil
	}
	t := r.tail.Load()
	if t&^gate != r.headAt() || !r.tail.CompareAndSwap(t, t|retired) {
		return nil
	}
	q.position, q.before = r.tailAt(), r.count(r.tailAt())
	q.head.Store(nil)
	q.tail.Store(nil)
	return r
}

// reuse gives a queue without a ring the ring that freeMemory has returned last, at whose position the queue
// still stands. A submitter that has seen the tail before may go on as if the ring had never been away.
func (q *queue) reuse(r *ring) {
	r.head.Or(gate) // gated like the ends of a new ring
	r.tail.Or(gate)
	r.tail.And(^uint64(retired))
	q.head.Store(r)
	q.tail.Store(r)
	q.regate()
}

// setGates closes or opens the two ends for the fast paths.
func (q *queue) setGates(head, tail bool) {
	q.headGated, q.tailGated = head, tail
	q.regate()
}

func (q *queue) regate() {
	head, tail := q.head.Load(), q.tail.Load()
	if head == nil {
		return
	}
	setGate(&head.head, q.headGated)
	setGate(&tail.tail, q.tailGated || q.mayOverflow(head, tail))
}

// gated reports whether one of the ends is gated, be it only because the tail ring might overflow.
func (q *queue) gated() bool {
	tail := q.tail.Load()
	return q.headGated || q.tailGated || tail != nil && tail.tail.Load()&gate != 0
}

// mayOverflow reports whether filling the tail ring would exceed the capacity.
func (q *queue) mayOverflow(head, tail *ring) bool {
	if head == tail || q.capacity == math.MaxInt {
		return false
	}
	older := tail.before - head.count(head.headAt())
	return uint64(len(tail.slots))+older > uint64(q.capacity)
}

func setGate(word *atomic.Uint64, closed bool) {
	switch is := word.Load()&gate != 0; {
	case closed && !is:
		word.Or(gate)
	case !closed && is:
		word.And(^uint64(gate))
	}
}

// ready reports whether a worker would find a task. It needs no lock.
func (q *queue) ready() bool {
	r := q.head.Load()
	return r != nil && r.ready()
}

// accepted and taken count tasks since the queue was made. Callers must read taken after accepted, so that
// the difference never exceeds what the queue held.
func (q *queue) accepted() uint64 {
	if r := q.tail.Load(); r != nil {
		return r.count(r.tailAt())
	}
	return q.before
}

func (q *queue) taken() uint64 {
	if r := q.head.Load(); r != nil {
		return r.count(r.headAt())
	}
	return q.before
}

func (q *queue) len() int {
	accepted := q.accepted()
	return int(max(0, int64(accepted-q.taken())))
}

// tailPosition returns the position behind the youngest task; headPosition returns that of the oldest task.
func (q *queue) tailPosition() uint64 {
	if r := q.tail.Load(); r != nil {
		return r.tailAt()
	}
	return q.position
}

func (q *queue) headPosition() uint64 {
	q.advance()
	if r := q.head.Load(); r != nil {
		return r.headAt()
	}
	return q.position
}

// compact removes the void tasks, and returns them. Both ends must be gated. The other tasks move to new
// positions. Each of the positions in at, which are in order, becomes the new position before which the same
// tasks stand. If a submitter is half-way through a slot, compact changes nothing and reports false.
//
// The old rings are not used again: a goroutine that still holds one finds its gate closed, and comes to the
// lock.
func (q *queue) compact(void func(Task) bool, at []*uint64) (out []Task, ok bool) {
	head := q.head.Load()
	found, ok := q.voids(void)
	if !ok || found == 0 {
		return nil, ok
	}
	out = make([]Task, 0, found)
	fresh := queue{capacity: q.capacity, headGated: true, tailGated: true, position: head.headAt(), before: head.count(head.headAt())}
	fresh.dead.Store(math.MaxInt32) // all tasks have room here, even if they exceed the capacity for a moment
	var to []uint64
	for r := head; r != nil; r = r.next {
		end := r.tailAt()
		for pos := r.headAt(); pos != end; pos = r.after(pos) {
			for len(to) < len(at) && *at[len(to)] <= pos {
				to = append(to, fresh.tailPosition())
			}
			s := &r.slots[pos&r.mask]
			if v := s.value; len(out) < found && void(v) {
				out = append(out, v)
			} else {
				fresh.push(v)
				fresh.remark(s.stamp.Load())
			}
		}
	}
	if r := fresh.tail.Load(); r != nil {
		r.measures(q.meter)
	}
	for i, a := range at {
		if i < len(to) {
			*a = to[i]
		} else {
			*a = fresh.tailPosition()
		}
	}
	q.tail.Load().tail.Or(retired)
	q.head.Store(fresh.head.Load())
	q.tail.Store(fresh.tail.Load())
	q.position, q.before = fresh.position, fresh.before
	return out, true
}

// remark gives the task pushed last the stamp that it had before, if that is a mark.
func (q *queue) remark(stamp uint64) {
	if stamp&marked != 0 {
		r := q.tail.Load()
		n := uint64(len(r.slots))
		r.slots[(r.tailAt()&r.mask+n-1)%n].stamp.Store(stamp)
	}
}

// voids counts the tasks that are void. It reports false if a submitter is half-way through a slot.
func (q *queue) voids(void func(Task) bool) (n int, ok bool) {
	for r := q.head.Load(); r != nil; r = r.next {
		end := r.tailAt()
		for pos := r.headAt(); pos != end; pos = r.after(pos) {
			s, ok := r.holds(pos)
			if !ok {
				return 0, false
			}
			if void(s.value) {
				n++
			}
		}
	}
	return n, true
}
