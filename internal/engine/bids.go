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
// A lane that ages rises while it waits, and is back at its own priority after one turn. Those that have risen to
// the highest priority get at most every other place as long as others wait: so neither they nor these starve.
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
	waiting [2][2]heap[*bid] // the bids of lanes that want a place: by whether they are aged, and whether they want a token as well, see needsToken
	steps   heap[*bid]       // those that age, by the time of their next step
	yields  [2]bool          // whether an aged bid has got the last place, and the last token: the next one is for another
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
	takes  bool          // it wants a token while it bids
	lacked bool          // work that a task waits for has lacked a permit of the lane: see lacksPermit
	aging  time.Duration // how long the lane waits for one step of priority; 0 for no aging

	used   float64       // run time divided by the share, in ns
	lifted time.Duration // when used was last raised to class.now, on the root's clock
	since  time.Duration // when it last had a place, or when its oldest task was submitted, as far as is known, if that was later; on the root's clock
	step   time.Duration // when it comes to next
	number uint64        // of equal bids the one with the lower number comes first
	at     int32         // its index in order or tokens, plus 1; 0 while it does not bid
	stepAt int32         // its index in steps, plus 1
}

const (
	// turn is how long a worker goes on running the tasks of one lane while others of the same priority want
	// its place.
	turn = 200 * time.Microsecond
	// lowest is below all levels.
	lowest = math.MinInt32

	// notYet is a time that never comes.
	notYet = time.Duration(math.MaxInt64)
)

func (b *bids) init() {
	for i := range b.waiting {
		for j := range b.waiting[i] {
			b.waiting[i][j].before, b.waiting[i][j].at = precedes, func(x *bid) *int32 { return &x.at }
		}
	}
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
		for _, x := range slices.Concat(b.items(false), b.items(true)) { // the new priority may change how far a bid has to age
			b.steps.remove(x)
			b.become(x, x.takes, x.aged && x.level >= b.top())
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
	case x.aged && x.since != y.since:
		return x.since < y.since
	case x.used != y.used:
		return x.used < y.used
	default:
		return x.number < y.number
	}
}

// enter adds x. oldest is when the oldest task of its lane was submitted. dry is as for first.
func (b *bids) enter(x *bid, now, oldest time.Duration, dry bool) {
	x.lift(now)
	x.number, x.since = b.next(), max(x.since, oldest)
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
func (b *bids) among(x *bid) *heap[*bid] { return &b.waiting[index(x.aged)][index(x.takes)] }

func index(is bool) int {
	if is {
		return 1
	}
	return 0
}

// items returns the bids that want a token, or the others.
func (b *bids) items(takes bool) []*bid {
	return slices.Concat(b.waiting[0][index(takes)].items, b.waiting[1][index(takes)].items)
}

// want reports whether there are bids that want a token, or others.
func (b *bids) want(takes bool) bool {
	return len(b.waiting[0][index(takes)].items) > 0 || len(b.waiting[1][index(takes)].items) > 0
}

// first returns the first of the bids that may get a place now; nil if there is none. With dry those are passed
// over that want a token.
func (b *bids) first(dry bool) *bid {
	return b.choose(b.firstOf(false, dry), b.firstOf(true, dry), nil, lowest)
}

// firstOf is first for those that are aged, or the others.
func (b *bids) firstOf(aged, dry bool) (x *bid) {
	in := &b.waiting[index(aged)]
	for takes := range 2 - index(dry) {
		if items := in[takes].items; len(items) > 0 && (x == nil || precedes(items[0], x)) {
			x = items[0]
		}
	}
	return x
}

// highest returns the highest level of the bids that first looks at, of which there is one.
func (b *bids) highest(dry bool) int32 {
	if x := b.firstOf(true, dry); x != nil {
		return x.level
	}
	return b.firstOf(false, dry).level
}

// choose returns x, or y, which is aged, or what comes before y for a token; x, y and own may be nil. An aged bid is passed over only for one that
// it would not come before anyway: nothing of a higher level wants what that gets, or has it, as least says.
func (b *bids) choose(x, y, own *bid, least int32) *bid {
	if y == nil || x != nil && precedes(x, y) {
		return x
	}
	least = max(least, y.class.priority)
	if b.yields[0] && x != nil && x.level >= least {
		return x
	}
	if b.yields[1] && y.takes { // between two tokens many places may go to bids that want none
		if x != nil {
			least = max(least, x.level)
		}
		z := own
		if items := b.waiting[0][1].items; len(items) > 0 && (z == nil || precedes(items[0], z)) {
			z = items[0]
		}
		if z != nil && z.level >= least {
			return z
		}
	}
	return y
}

// become makes x, which bids, one of those that want a token, or that are aged, or of the others.
func (b *bids) become(x *bid, takes, aged bool) {
	b.among(x).remove(x)
	x.takes, x.aged = takes, aged
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
	if n := int64(next) - int64(x.class.priority); n <= (math.MaxInt64-max(0, int64(x.since)))/int64(x.aging) {
		x.step = x.since + time.Duration(n)*x.aging
	}
	b.steps.push(x)
}

// backs notes that the lane of x has or had a place at the time now: it is back at its own priority, and ages from then on.
func (b *bids) backs(x *bid, now time.Duration) {
	if x.aging == 0 {
		return
	}
	bids := x.at > 0
	if bids {
		b.among(x).remove(x)
		b.steps.remove(x)
	}
	x.since, x.level, x.aged = now, x.class.priority, false
	if bids {
		b.among(x).push(x)
		b.goOn(x)
	}
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
		b.among(x).remove(x)
		x.level = x.next
		x.aged = x.level >= b.top()
		b.among(x).push(x)
		b.goOn(x)
	}
}

// best returns the bid that gets the next place; nil if there is none. own says whether the engine's own
// queue holds a task that may begin. dry is as for first, least as for choose.
func (b *bids) best(now time.Duration, own, dry bool, least int32) *bid {
	b.age(now)
	if own && !b.ownBids {
		b.own.lift(now)
	}
	b.ownBids = own
	b.look(now, dry)
	x, y := b.firstOf(false, dry), b.firstOf(true, dry)
	if !own {
		return b.choose(x, y, nil, least)
	}
	if x == nil || precedes(&b.own, x) {
		x = &b.own
	}
	return b.choose(x, y, &b.own, least)
}

// begins notes that x gets a place, or keeps it. That may be because lanes with a better claim have just got
// places, and do not bid again yet: then these keep their claim.
func (b *bids) begins(x *bid) {
	b.yields[0] = x.aged
	if x.takes || x == &b.own { // with the place a token, if there are any
		b.yields[1] = x.aged
	}
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

// cedes reports whether a worker that runs tasks of x must leave its place to y. It has had a turn, and so does not age.
func (x *bid) cedes(y *bid) bool {
	switch {
	case y == nil || y.level < x.class.priority:
		return false
	case y.level > x.class.priority || y.aged:
		return true
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
