package engine

import (
	"math"
	"slices"
	"time"
)

// bids are the lanes of an engine that want a place, in the order in which they get one. The order is by
// priority. Among equals it is by the time that their tasks have run, divided by their share. While the
// engine's own queue holds tasks, it is one of them, with priority 0 and share 1.
//
// Run time is measured in turns. A turn begins when a worker begins to run tasks of a lane. The turn is
// charged to the lane when the worker looks whether others have a better claim by now. Only time during which
// others wanted the place counts. When a lane starts to bid, its used time is raised to that of the lane that
// last got or kept a place. So a lane that was idle, or had too low a limit, gains no claim, and owes nothing
// for what ran until then. That is start-time fair queueing (Goyal, Vin and Cheng, 1996), but with the charge
// after the fact, as it is not known beforehand how long a task will run.
//
// All of it is under the lock.
type bids struct {
	order   heap[*bid] // the bids of lanes that want a place
	tokens  heap[*bid] // those of lanes that want a token as well: see needsToken
	steps   heap[*bid] // those of both that age, by the time of their next step
	classes map[int32]*class
	levels  []int32 // their priorities
	own     bid     // the engine's own queue
	ownBids bool
	number  uint64
	served  []*bid // of lanes that have got a place, and do not bid again until their workers have found their tasks

	calm        bool          // nothing has wanted a place since until, as far as was seen; something did between from and until
	from, until time.Duration // on the root's clock
}

// class is what the lanes of one priority share.
type class struct {
	priority int32
	lanes    int32   // how many lanes have the priority, as far as is known
	now      float64 // the used time of the last lane that got or kept a place
}

// bid is the entry of a lane in the bids of its parent.
type bid struct {
	lane   *Engine // nil for the parent's own queue
	class  *class
	level  int32 // the priority, with the steps of aging so far,
	next   int32 // and the next level
	share  int32
	aged   bool          // it has aged to the highest priority
	served bool          // it is in bids.served
	takes  bool          // it is in bids.tokens while it bids
	aging  time.Duration // how long the oldest task waits for one step of priority; 0 for no aging

	used   float64       // run time divided by the share, in ns
	lifted time.Duration // when used was last raised to class.now, on the root's clock
	oldest time.Duration // when its oldest task was submitted, as far as is known, on the root's clock
	step   time.Duration // when it comes to next
	number uint64        // of equal bids the one with the lower number comes first
	at     int32         // its index in order or tokens, plus 1; 0 while it does not bid
	stepAt int32         // its index in steps, plus 1
}

const (
	// turn is how long a worker goes on running the tasks of one lane while others of the same priority want
	// its place.
	turn = 200 * time.Microsecond
	// notYet is a time that never comes.
	notYet = time.Duration(math.MaxInt64)
)

func (b *bids) init() {
	b.order.before, b.order.at = precedes, func(x *bid) *int32 { return &x.at }
	b.tokens.before, b.tokens.at = b.order.before, b.order.at
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
		for _, x := range slices.Concat(b.order.items, b.tokens.items) { // the new priority may change how far a bid has to age
			b.steps.remove(x)
			x.aged = x.aged && x.level >= b.top()
			b.among(x).fix(x)
			b.goOn(x)
		}
	}
	c.lanes++
	x.class, x.level, x.share, x.aging = c, priority, share, aging
}

// drop notes that a lane of the priority is gone.
func (b *bids) drop(priority int32) {
	c := b.classes[priority]
	if c.lanes--; c.lanes > 0 {
		return
	}
	delete(b.classes, priority)
	at, _ := slices.BinarySearch(b.levels, priority)
	b.levels = slices.Delete(b.levels, at, at+1)
}

// top returns the highest priority of the lanes and the queue.
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

// enter adds x. oldest is when the oldest task of its lane was submitted. dry is as for first.
func (b *bids) enter(x *bid, now, oldest time.Duration, dry bool) {
	x.lift(now)
	x.number, x.oldest = b.next(), oldest
	x.level, x.aged = x.class.priority, false
	b.among(x).push(x)
	b.goOn(x)
	b.look(now, dry)
}

// next returns the next number of a bid.
func (b *bids) next() uint64 {
	b.number++
	return b.number
}

// among returns the bids that x is one of while it bids.
func (b *bids) among(x *bid) *heap[*bid] {
	if x.takes {
		return &b.tokens
	}
	return &b.order
}

// first returns the first of the bids that may get a place now; nil if there is none. With dry those are passed
// over that want a token.
func (b *bids) first(dry bool) (x *bid) {
	if len(b.order.items) > 0 {
		x = b.order.items[0]
	}
	if len(b.tokens.items) > 0 && !dry && (x == nil || precedes(b.tokens.items[0], x)) {
		x = b.tokens.items[0]
	}
	return x
}

// become makes x, which bids, one of those that want a token, or of the others.
func (b *bids) become(x *bid, takes bool) {
	b.among(x).remove(x)
	x.takes = takes
	b.among(x).push(x)
}

// goOn notes when x comes to the next level at which its claim changes: the level of a priority, or just
// above one. In between its claim does not change, except against others that age; those count as equal.
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

func (b *bids) leave(x *bid, now time.Duration, dry bool) {
	b.among(x).remove(x)
	b.steps.remove(x)
	b.look(now, dry)
}

// lift raises the used time of x to that of the others of its class, if it is behind.
func (x *bid) lift(now time.Duration) {
	if x.used < x.class.now {
		x.used, x.lifted = x.class.now, now
	}
}

// look notes whether something wants a place that may get one.
func (b *bids) look(now time.Duration, dry bool) {
	switch calm := !b.ownBids && b.first(dry) == nil; {
	case calm == b.calm:
	case calm:
		b.calm, b.until = true, now
	default:
		b.calm, b.from = false, now
	}
}

// age moves bids to their next level whose time has come.
func (b *bids) age(now time.Duration) {
	for len(b.steps.items) > 0 && b.steps.items[0].step <= now {
		x := b.steps.items[0]
		b.steps.remove(x)
		x.level = x.next
		x.aged = x.level >= b.top()
		b.among(x).fix(x)
		b.goOn(x)
	}
}

// levelAt returns the level of x, which does not bid.
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

// best returns the bid that gets the next place; nil if there is none. own says whether the engine's own
// queue holds a task that may begin. dry is as for first.
func (b *bids) best(now time.Duration, own, dry bool) *bid {
	b.age(now)
	if own && !b.ownBids {
		b.own.lift(now)
	}
	b.ownBids = own
	b.look(now, dry)
	x := b.first(dry)
	if !own {
		return x
	}
	if x == nil || precedes(&b.own, x) {
		return &b.own
	}
	return x
}

// begins notes that x gets a place, or keeps it. That may be because lanes with a better claim have just got
// places, and do not bid again yet: then these keep their claim.
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

// serve notes that the lane of x has got a place, and that a worker begins to look for its task.
func (b *bids) serve(x *bid) {
	if !x.served {
		x.served = true
		b.served = append(b.served, x)
	}
}

// forget undoes serve for the bid at index i of served.
func (b *bids) forget(i int) {
	last := len(b.served) - 1
	b.served[i].served = false
	b.served[i], b.served[last] = b.served[last], nil
	b.served = b.served[:last]
}

// charge notes that a worker has run tasks of x since the time since.
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
		b.among(x).fix(x)
	}
}

// cedes reports whether a worker that runs tasks of x must leave its place to y.
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

// urgency is what the workers of lanes compare to learn whether another lane wants their place. It is twice
// the priority of the bid that gets the next place, plus 1 if one of the bids ages.
type urgency int64

const (
	calm    urgency = math.MinInt64     // no other wants the place
	pressed urgency = math.MaxInt64 - 1 // the parent wants it back in any case
	aging   urgency = 1

	// HighestPriority is the highest priority of a lane; the lowest one is its negative.
	HighestPriority = 1 << 30
	// LargestShare is the largest share of a lane.
	LargestShare = 1 << 20
)

func urgencyOf(level int32) urgency { return urgency(level) << 1 }

// heap is a binary heap whose items know their index.
type heap[T any] struct {
	items  []T
	before func(x, y T) bool
	at     func(T) *int32 // where an item keeps its index, plus 1; 0 if it is not in the heap
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

// fix moves x to where it belongs after a change.
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
