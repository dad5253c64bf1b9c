package engine

import (
	"math"
	"slices"
	"time"
)

// bids are the lanes of an engine that want a place, in the order in which they get one: by priority, and among equals by the time that
// their tasks have run, divided by their share. The engine's own queue is one of them, of priority 0 and share 1, while it holds tasks.
//
// Run times are those of turns: a turn begins when a worker begins to run tasks of a lane, and it is charged to the lane when the worker looks
// whether others have a better claim by now. Only the time counts during which others wanted the place. A lane that bids begins where the last one
// is that got or kept a place, if it is behind that: it has no claim to what it has not used, whether it was idle or its limit was too low, and
// owes nothing for what ran until then. That is start-time fair queueing (Goyal, Vin and Cheng, 1996), with the charge after the fact, as it is
// not known beforehand how long a task will run.
//
// All of it is under the lock.
type bids struct {
	order   heap[*bid] // those that want a place
	steps   heap[*bid] // of those, the ones that age, by when they come to the next priority
	classes map[int32]*class
	levels  []int32 // their priorities
	own     bid     // the engine's own queue
	ownBids bool
	number  uint64
	served  []*bid // those that have got a place, and whose workers may not have found their tasks: until then they do not bid for another one

	calm        bool          // nothing wants a place, as far as was seen, since until; before, from from on, something did
	from, until time.Duration // on the root's clock
}

// class is what the lanes of one priority have in common.
type class struct {
	priority int32
	lanes    int32   // that have it, as far as they are known not to be gone
	now      float64 // the used time of the last one that got or kept a place
}

// bid is what a lane is known by among those of its parent.
type bid struct {
	lane   *Engine // nil for the parent's own queue
	class  *class
	level  int32 // the priority with the steps so far,
	next   int32 // and the next one
	share  int32
	aged   bool          // it has come to the top
	served bool          // it is among the served
	aging  time.Duration // one step of priority for each of it that the oldest task has waited; 0 for none

	used   float64       // run time divided by the share, in ns
	lifted time.Duration // when it was last put where others are, on the root's clock
	oldest time.Duration // when its oldest task was submitted, as far as that is known, since the root's clock began
	step   time.Duration // when it comes to the next level
	number uint64        // of bids that are equal the first one comes first
	at     int32         // its index in order, plus 1; 0 while it does not bid
	stepAt int32         // that in steps
}

const (
	// turn is the run time for which a worker goes on with the tasks of one lane while others of the same priority want its place.
	turn = 200 * time.Microsecond
	// notYet is a time that never comes.
	notYet = time.Duration(math.MaxInt64)
)

func (b *bids) init() {
	b.order.before, b.order.at = precedes, func(x *bid) *int32 { return &x.at }
	b.steps.before, b.steps.at = func(x, y *bid) bool { return x.step < y.step }, func(x *bid) *int32 { return &x.stepAt }
	b.classes, b.calm = map[int32]*class{}, true
	b.add(&b.own, 0, 1, 0)
}

func (b *bids) add(x *bid, priority, share int32, aging time.Duration) {
	c := b.classes[priority]
	if c == nil {
		c = &class{priority: priority}
		b.classes[priority] = c
		at, _ := slices.BinarySearch(b.levels, priority)
		b.levels = slices.Insert(b.levels, at, priority)
		for _, x := range slices.Clone(b.order.items) { // those that age may have to come to a higher level than before
			b.steps.remove(x)
			x.aged = x.aged && x.level >= b.top()
			b.order.fix(x)
			b.goOn(x)
		}
	}
	c.lanes++
	x.class, x.level, x.share, x.aging = c, priority, share, aging
}

// drop notes that a lane of that priority is gone.
func (b *bids) drop(priority int32) {
	c := b.classes[priority]
	if c.lanes--; c.lanes > 0 {
		return
	}
	delete(b.classes, priority)
	at, _ := slices.BinarySearch(b.levels, priority)
	b.levels = slices.Delete(b.levels, at, at+1)
}

// top is the highest priority that a lane has, or the queue.
func (b *bids) top() int32 { return b.levels[len(b.levels)-1] }

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

// enter adds x. oldest is when its oldest task was submitted.
func (b *bids) enter(x *bid, now, oldest time.Duration) {
	b.contends(now)
	x.lift(now)
	b.number++
	x.number, x.oldest = b.number, oldest
	x.level, x.aged = x.class.priority, false
	b.order.push(x)
	b.goOn(x)
}

// goOn notes when x comes to a level at which its claim changes: that of a priority, or above it. In between it does not, except against others that
// age, which count as equal.
func (b *bids) goOn(x *bid) {
	if x.aging == 0 || x.level >= b.top() {
		return
	}
	at, _ := slices.BinarySearch(b.levels, x.level)
	next := x.level + 1 // above a priority
	if b.levels[at] != x.level {
		next = b.levels[at]
	}
	x.next, x.step = next, notYet
	if n := int64(next) - int64(x.class.priority); n <= (math.MaxInt64-max(0, int64(x.oldest)))/int64(x.aging) {
		x.step = x.oldest + time.Duration(n)*x.aging
	}
	b.steps.push(x)
}

func (b *bids) leave(x *bid, now time.Duration) {
	b.order.remove(x)
	b.steps.remove(x)
	if !b.ownBids {
		b.calms(now)
	}
}

// lift puts x where the others of its class are, if it is behind.
func (x *bid) lift(now time.Duration) {
	if x.used < x.class.now {
		x.used, x.lifted = x.class.now, now
	}
}

// contends notes that something wants a place, calms that nothing does.
func (b *bids) contends(now time.Duration) {
	if b.calm {
		b.calm, b.from = false, now
	}
}

func (b *bids) calms(now time.Duration) {
	if !b.calm && len(b.order.items) == 0 {
		b.calm, b.until = true, now
	}
}

// age lets those come to their next level whose time it is.
func (b *bids) age(now time.Duration) {
	for len(b.steps.items) > 0 && b.steps.items[0].step <= now {
		x := b.steps.items[0]
		b.steps.remove(x)
		x.level = x.next
		x.aged = x.level >= b.top()
		b.order.fix(x)
		b.goOn(x)
	}
}

// levelAt is the level of x, which does not bid.
func (b *bids) levelAt(x *bid, now time.Duration) (level int32, aged bool) {
	top := b.top()
	if x.aging == 0 || x.class.priority >= top {
		return x.class.priority, false
	}
	steps := int64(max(0, now-x.oldest) / x.aging)
	if steps >= int64(top)-int64(x.class.priority) {
		return top, true
	}
	level = x.class.priority + int32(steps)
	if at, found := slices.BinarySearch(b.levels, level); !found && at > 0 {
		level = b.levels[at-1] + 1
	}
	return level, false
}

// best returns the one that gets the next place; nil if there is none. own says whether there is a task in the engine's own queue.
func (b *bids) best(now time.Duration, own bool) *bid {
	b.age(now)
	if own {
		b.contends(now)
	} else {
		b.calms(now)
	}
	var x *bid
	if len(b.order.items) > 0 {
		x = b.order.items[0]
	}
	if own && !b.ownBids {
		b.own.lift(now)
	}
	if b.ownBids = own; !own {
		return x
	}
	if x == nil || precedes(&b.own, x) {
		return &b.own
	}
	return x
}

// begins notes that x gets a place, or keeps it. If that is because those with a better claim have just got theirs, and do not bid for more yet, they keep that claim.
func (b *bids) begins(x *bid) {
	used := x.used
	for i := 0; i < len(b.served); {
		y := b.served[i]
		if !y.lane.coming() {
			b.forget(i)
			continue
		}
		if y.class == x.class {
			used = min(used, y.used)
		}
		i++
	}
	x.class.now = max(x.class.now, used)
}

// serve notes that x has got a place, and begins to look for its task.
func (b *bids) serve(x *bid) {
	if !x.served {
		x.served = true
		b.served = append(b.served, x)
	}
}

// forget undoes serve for the one with that index.
func (b *bids) forget(i int) {
	last := len(b.served) - 1
	b.served[i].served = false
	b.served[i], b.served[last] = b.served[last], nil
	b.served = b.served[:last]
}

// charge notes that a worker has run tasks of x since then.
func (b *bids) charge(x *bid, since, now time.Duration) {
	if b.calm {
		now = b.until
	}
	d := now - max(since, b.from, x.lifted)
	if d <= 0 {
		return
	}
	x.used += float64(d) / float64(x.share)
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
		return x.used-y.used > float64(turn)/float64(x.share)
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
