package engine

import (
	"math"
	"time"
)

// bids are the lanes of an engine that want a place, in the order in which they get one: by priority, and among equals by the time that
// their tasks have run, divided by their share. The engine's own queue is one of them, of priority 0 and share 1, while it holds tasks.
//
// Run times are those of turns: a turn begins when a worker begins to run tasks of a lane, or when others want its place, and it is charged to
// the lane when the worker looks whether others have a better claim by now. A lane that bids after a pause begins where the last one
// is that got a place: it has no claim to what it has not used. That is start-time fair queueing (Goyal, Vin and Cheng, 1996), with the
// charge after the fact, as it is not known beforehand how long a task will run.
//
// All of it is under the lock.
type bids struct {
	order   heap[*bid] // those that want a place
	steps   heap[*bid] // of those, the ones that age, by when they come to the next priority
	classes map[int32]*class
	top     int32 // the highest priority there is
	own     bid   // the engine's own queue
	ownBids bool
	number  uint64
}

// class is what the lanes of one priority have in common.
type class struct{ now int64 } // the used time of the last one that got a place

// bid is what a lane is known by among those of its parent.
type bid struct {
	lane     *Engine // nil for the parent's own queue
	class    *class
	priority int32
	level    int32 // the priority with the steps so far
	share    int32
	aged     bool          // it has come to the top
	aging    time.Duration // one step of priority for each of it that the oldest task has waited; 0 for none

	used   int64         // run time divided by the share, in ns times perShare
	oldest time.Duration // when its oldest task was submitted, as far as that is known, since the root's clock began
	step   time.Duration // when it comes to the next level
	number uint64        // of bids that are equal the first one comes first
	at     int32         // its index in order, plus 1; 0 while it does not bid
	stepAt int32         // that in steps
}

const (
	perShare = 1 << 10
	// turn is the run time for which a worker goes on with the tasks of one lane while others of the same priority want its place.
	turn = 200 * time.Microsecond
	// tasksAtOnce are run at most before the worker reads the clock again.
	tasksAtOnce = 64
)

func (b *bids) init() {
	b.order.before, b.order.at = precedes, func(x *bid) *int32 { return &x.at }
	b.steps.before, b.steps.at = func(x, y *bid) bool { return x.step < y.step }, func(x *bid) *int32 { return &x.stepAt }
	b.classes = map[int32]*class{}
	b.add(&b.own, 0, 1, 0)
}

func (b *bids) add(x *bid, priority, share int32, aging time.Duration) {
	c := b.classes[priority]
	if c == nil {
		c = new(class)
		b.classes[priority] = c
	}
	x.class, x.priority, x.level, x.share, x.aging = c, priority, priority, share, aging
	b.top = max(b.top, priority)
}

// precedes reports whether x gets a place before y.
func precedes(x, y *bid) bool {
	switch {
	case x.level != y.level:
		return x.level > y.level
	case x.aged != y.aged:
		return x.aged
	case x.aged && x.oldest != y.oldest:
		return x.oldest < y.oldest
	case x.used != y.used:
		return x.used < y.used
	default:
		return x.number < y.number
	}
}

// enter adds x. oldest is when its oldest task was submitted. No worker of an idle lane has a place.
func (b *bids) enter(x *bid, oldest time.Duration, idle bool) {
	if idle {
		x.used = max(x.used, x.class.now)
	}
	b.number++
	x.number, x.oldest = b.number, oldest
	x.level, x.aged = x.priority, false
	b.order.push(x)
	if x.aging > 0 && x.priority < b.top {
		x.step = oldest + x.aging
		b.steps.push(x)
	}
}

func (b *bids) leave(x *bid) {
	b.order.remove(x)
	b.steps.remove(x)
}

// age lets those come to their next level whose time it is.
func (b *bids) age(now time.Duration) {
	for len(b.steps.items) > 0 && b.steps.items[0].step <= now {
		x := b.steps.items[0]
		x.level, x.aged = x.levelAt(now, b.top)
		b.order.fix(x)
		if x.aged {
			b.steps.remove(x)
			continue
		}
		x.step = x.oldest + time.Duration(x.level-x.priority+1)*x.aging
		b.steps.fix(x)
	}
}

func (x *bid) levelAt(now time.Duration, top int32) (level int32, aged bool) {
	if x.aging == 0 || x.priority >= top {
		return x.priority, false
	}
	steps := int64(max(0, now-x.oldest) / x.aging)
	if steps >= int64(top)-int64(x.priority) {
		return top, true
	}
	return x.priority + int32(steps), false
}

// best returns the one that gets the next place; nil if there is none. own says whether there is a task in the engine's own queue.
func (b *bids) best(now time.Duration, own bool) *bid {
	b.age(now)
	var x *bid
	if len(b.order.items) > 0 {
		x = b.order.items[0]
	}
	if own && !b.ownBids {
		b.own.used = max(b.own.used, b.own.class.now)
	}
	if b.ownBids = own; !own {
		return x
	}
	if x == nil || precedes(&b.own, x) {
		return &b.own
	}
	return x
}

// begins notes that x gets a place.
func (x *bid) begins() { x.class.now = max(x.class.now, x.used) }

// charge notes for how long a worker has run tasks of x.
func (b *bids) charge(x *bid, d time.Duration) {
	x.used += int64(d) * perShare / int64(x.share)
	if x.at > 0 {
		b.order.fix(x)
	}
}

// cedes reports whether a worker that runs tasks of x leaves its place to y.
func (x *bid) cedes(y *bid) bool {
	switch {
	case y == nil:
		return false
	case x.level != y.level || x.aged != y.aged || x.aged:
		return precedes(y, x)
	default:
		return x.used-y.used > int64(turn)*perShare/int64(x.share)
	}
}

// urgency is what workers of lanes compare to learn whether another lane wants their place: twice the priority of the one that will get the next, plus 1
// if one of those that want a place ages.
type urgency int64

const (
	calm    urgency = math.MinInt64     // no other wants the place
	pressed urgency = math.MaxInt64 - 1 // the parent wants it back in any case
	aging   urgency = 1

	// HighestPriority is that of a lane; the lowest is its negative.
	HighestPriority = 1 << 30
	// LargestShare is that of a lane.
	LargestShare = 1 << 20
)

func urgencyOf(level int32) urgency { return urgency(level) << 1 }

// heap is a binary heap whose items know where they stand.
type heap[T any] struct {
	items  []T
	before func(x, y T) bool
	at     func(T) *int32 // the index of an item, plus 1; 0 for one that is not here
}

func (h *heap[T]) push(x T) {
	h.items = append(h.items, x)
	*h.at(x) = int32(len(h.items))
	h.up(len(h.items) - 1)
}

func (h *heap[T]) remove(x T) {
	i := int(*h.at(x)) - 1
	if i < 0 {
		return
	}
	last := len(h.items) - 1
	h.swap(i, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.at(x) = 0
	if i < last {
		h.down(h.up(i))
	}
}

// fix puts x where it belongs, after a change.
func (h *heap[T]) fix(x T) { h.down(h.up(int(*h.at(x)) - 1)) }

func (h *heap[T]) up(i int) int {
	for i > 0 && h.before(h.items[i], h.items[(i-1)/2]) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (h *heap[T]) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.before(h.items[child], h.items[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		i = first
	}
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.at(h.items[i]), *h.at(h.items[j]) = int32(i+1), int32(j+1)
}
