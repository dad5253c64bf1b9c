package engine

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
	"weak"

	"github.com/64ed045f/weir/internal/fifo"
)

// A lane is an engine that has no places and no goroutines of its own. It takes both from another engine, its
// parent, which may be a lane, too. It has a queue and a limit, and all that depends on these.
//
// A worker of a lane runs on the goroutine of a worker of the parent, its carrier. If the lane's worker holds
// a permit, or stands on the place of another one, its carrier does the same in the parent. So a task of a
// lane runs only where the lane and the parent both have a place for it. A carrier counts as idle, since it
// has no task of the parent's queue, but holds a permit like a worker that has one.
//
// A lane that has work and a permit, but no place, bids for one: see bids. Until the lane gets the place, the
// bid holds the permit and the searching token for the worker that will come. The parent's own workers find
// bids next to its queue, as they find subtasks. While there are bids, or tasks in the parent's queue, a
// worker of a lane leaves its place when others have a better claim: see givesWay.
//
// An engine without a parent and the lanes below it are a family. They have one lock. A goroutine that has
// changed something under it notes which of the other engines that concerns, and unlock does what is due for
// each of them.
type lane struct {
	parent  *Engine
	bid     bid     // among the bids of the parent
	spare   *Worker // a worker that has ended, for reuse
	at      int32   // its index in the parent's working
	needyAt int32   // its index in the parent's needy, plus 1; 0 while it is not there
	rested  func()  // LaneConfig.Rests

	// ring is the ring that the queue had when the lane last rested. Most lanes rest often, but not for long.
	// They find the ring again, unless the garbage collector has freed it meanwhile.
	ring weak.Pointer[ring]
}

// lanes are the lanes of an engine.
type lanes struct {
	bids
	root    *Engine              // of the family: each change asks for it at each level, and so for the depth
	depth   int                  // of the lanes
	wanted  atomic.Int64         // an urgency: what the workers of the lanes must know, see press
	all     []member             // the oldest first
	working []*Engine            // the lanes that have workers
	held    map[*Engine]struct{} // see hold
	alive   int                  // the length of all after the last sweep
	splits  fifo.List[splits]    // split tasks that lack a permit here
	lacking int                  // in the root: how many entries of splits, and vacant places of lanes, fillCarried may have to serve
	unused  []*Worker            // workers of them that offerSplit has not seen yet
	unended int                  // how many lanes were closed with the engine and have not ended
	needy   []*Engine            // lanes with tasks for which others wait, and that may not have started
	touched []*Engine            // in the root: the engines that unlock has to settle
}

// member is a lane, until the lane is garbage.
type member struct {
	weak.Pointer[Engine]
	priority int32
}

// LaneConfig holds the settings that a lane has in addition to those of [Config].
type LaneConfig struct {
	Share    int           // the lane's part of the run time, among lanes of the same priority
	Priority int           // lanes of a higher priority go first
	Aging    time.Duration // how long the oldest task waits for one step of priority; 0 for no aging; else Measure must be 1
	Rests    func()        // if not nil, it is called, without the lock, when the last worker has ended
}

// isCarrier is the mark of a worker that carries a worker of a lane.
const isCarrier mark = 1

// InitLane is Init for a lane of parent.
func (e *Engine) InitLane(parent *Engine, c *Config, l LaneConfig) {
	c.IdleTimeout, c.Blocked = 0, 0
	e.Init(c)
	e.queue.isLanes = true
	e.mu.of = parent.mu.mutex()
	e.lane = &lane{parent: parent, rested: l.Rests}
	e.lane.bid.lane = e
	e.mu.Lock()
	defer parent.unlock()
	if parent.lanes == nil {
		parent.lanes = &lanes{root: parent.root(), depth: parent.depth() + 1}
		parent.lanes.init()
		parent.lanes.wanted.Store(int64(calm))
	}
	e.sharesTokens()
	parent.lanes.add(&e.lane.bid, int32(l.Priority), int32(l.Share), l.Aging)
	parent.lanes.note(e)
	if parent.closed {
		e.shutLocked()
		e.settle()
	}
}

// note adds e to the lanes of b. When their number has about doubled, it drops those that are garbage or have
// ended.
func (b *lanes) note(e *Engine) {
	if len(b.all) >= 2*b.alive+16 {
		b.all = slices.DeleteFunc(b.all, func(l member) bool {
			e := l.Value()
			gone := e == nil || e.ended()
			if gone {
				b.drop(l.priority)
			}
			return gone
		})
		if b.alive = len(b.all); cap(b.all) > 64 && b.alive < cap(b.all)/8 {
			b.all = slices.Clone(b.all) // a crowd of lanes has gone
		}
	}
	b.all = append(b.all, member{weak.Make(e), e.lane.bid.class.priority})
}

// freeQueue frees the memory of the queue of a lane that rests.
func (e *Engine) freeQueue() {
	if r := e.queue.freeMemory(); r != nil {
		if r.weak == (weak.Pointer[ring]{}) {
			r.weak = weak.Make(r)
		}
		e.lane.ring = r.weak
	}
}

// reuseQueue undoes freeQueue, if the memory is still there.
func (e *Engine) reuseQueue() {
	if e.queue.head.Load() != nil {
		return
	}
	if r := e.lane.ring.Value(); r != nil {
		e.lane.ring = weak.Pointer[ring]{}
		e.queue.reuse(r)
	}
}

// parent returns the engine where a lane has its places; nil for an engine that is no lane.
func (e *Engine) parent() *Engine {
	if e.lane == nil {
		return nil
	}
	return e.lane.parent
}

// root returns the engine of the family that is no lane.
func (e *Engine) root() *Engine {
	if e.lane == nil {
		return e
	}
	return e.lane.parent.lanes.root
}

// IsKin reports whether both engines are of one family.
func (e *Engine) IsKin(other *Engine) bool { return e.root() == other.root() }

// priority returns the priority of a lane, and 0 for an engine that is none.
func (e *Engine) priority() int32 {
	if e.lane == nil {
		return 0
	}
	return e.lane.bid.class.priority
}

// precedence returns a positive number if tasks of e come before those of x by the priorities of lanes of one pool that they are or are below,
// a negative one if after, and else 0.
func (e *Engine) precedence(x *Engine) int {
	if e.depth() < x.depth() {
		return -x.precedence(e)
	}
	own, of := int32(0), x.depth()
	for ; e.depth() > of; e = e.lane.parent {
		own = e.priority()
	}
	if e == x {
		return cmp.Compare(own, 0) // what x has queued itself has the priority 0
	}
	for e.lane.parent != x.lane.parent {
		e, x = e.lane.parent, x.lane.parent
	}
	return cmp.Compare(e.priority(), x.priority())
}

// depth returns how many pools e is a lane of, directly or not.
func (e *Engine) depth() int {
	if e.lane == nil {
		return 0
	}
	return e.lane.parent.lanes.depth
}

// bidding reports whether e has bid for a place: then no worker comes before e gets the place.
func (e *Engine) bidding() bool { return e.lane != nil && e.lane.bid.at > 0 }

// hasBids reports whether lanes of e have bid for places, and do not wait for a token for which e waits.
func (e *Engine) hasBids() bool { return e.lanes != nil && e.lanes.first(e.throttled()) != nil }

// coming reports whether a worker is about to look for a task, or to begin one.
func (e *Engine) coming() bool { return e.permits.searching() && !e.bidding() }

// hasWork reports whether there is work for a worker that searches.
func (e *Engine) hasWork() bool {
	return e.queue.len() > 0 && !e.throttled() || e.delegating() || e.hasBids() || e.lined()
}

// lined reports whether submitters wait with tasks that a worker takes directly from them, in an engine that
// is or has a lane. In any other engine they wait only while there is no worker for that.
func (e *Engine) lined() bool {
	return e.queue.capacity == 0 && e.submitters.length > 0 && !e.throttled() && (e.lane != nil || e.lanes != nil)
}

// tryPlace acquires a permit for a worker that gets its task at once, and for a lane a place in the parent as
// well.
func (e *Engine) tryPlace() bool {
	if !e.permits.tryAcquire() {
		return false
	}
	if p := e.parent(); p != nil && !p.hasPlace() {
		e.permits.release(false)
		return false
	}
	return true
}

// hasPlace acquires a permit for a lane of e, if there is one to which nothing else has a claim. What waits for a token
// has none.
func (e *Engine) hasPlace() bool {
	dry := e.isDry()
	switch {
	case e.delegating(), e.lanes.first(dry) != nil, !dry && (e.queue.len() > 0 || e.lined()):
		return false
	case e.submitters.length > 0 && !dry, e.placeWanted(), e.halted():
		return false
	case dry && e.bidding() && e.lane.bid.takes:
		e.unbid()
		e.touch() // to bid again, if a permit is left
	}
	return e.tryPlace()
}

// dropPlace releases what tryPlace has acquired. It is called while e is settled, and does not touch e: that would
// be settled again, and again, until there is a task.
func (e *Engine) dropPlace() {
	e.permits.release(false)
	for p := e.parent(); p != nil; p = p.parent() {
		p.permits.release(false)
		p.touch()
	}
}

// touch notes that unlock has to settle e.
func (e *Engine) touch() {
	if r := e.root().lanes; r != nil && !e.touched {
		e.touched = true
		r.touched = append(r.touched, e)
	}
}

// unlockFamily is unlock for an engine that is or has a lane.
func (e *Engine) unlockFamily() (settled bool) {
	settled = e.settle()
	r := e.root().lanes
	var some [8]*Engine
	stirs := append(some[:0], e)
	for i := 0; i < len(r.touched); i++ {
		x := r.touched[i]
		r.touched[i] = nil
		x.touched = false // it may be touched again
		x.settle()
		stirs = append(stirs, x)
	}
	if len(stirs) > 1 {
		slices.SortStableFunc(stirs, func(x, y *Engine) int { return y.precedence(x) }) // the first one may get the only place
	}
	if r.touched = r.touched[:0]; cap(r.touched) > 1024 {
		r.touched = nil
	}
	e.mu.Unlock()
	for _, x := range stirs {
		if x.permits.wakeable() && x.available() {
			x.stir()
		}
	}
	return settled
}

// seek gets a place for the worker that will search: now, or by a bid. The caller has acquired the permit and
// the token.
func (e *Engine) seek() {
	p := e.lane.parent
	takes := e.needsToken()
	if (!takes || !e.isDry()) && p.hasPlace() {
		e.embark(e.recruit(), orderSearch, nil)
		return
	}
	b := &e.lane.bid
	b.takes = takes
	p.lanes.enter(b, p.root().now(), e.oldest(), p.isDry())
	p.touch()
	e.offerAgain(e)
}

// unbid withdraws the bid of a lane, and releases its permit and token.
func (e *Engine) unbid() {
	p := e.lane.parent
	p.lanes.leave(&e.lane.bid, p.root().now(), p.isDry())
	e.permits.release(true)
	p.touch()
}

// lodge makes w, which is idle and has a permit, carry a worker of the lane that bid.
func (e *Engine) lodge(b *bid, w *Worker, now time.Duration) {
	e.lanes.leave(b, now, e.isDry())
	e.lanes.serve(b)
	e.lanes.backs(b, now)
	u := b.lane.recruit()
	u.order = orderSearch
	w.bears(u)
	e.candidate(w)
}

// bears makes w carry u.
func (w *Worker) bears(u *Worker) {
	w.carries, u.carrier = u, w
	w.mark = isCarrier
	u.turn, u.leaves = u.engine.root().now(), false
}

// reviewBid drops void tasks from the head of the queue of a lane that waits for a place. It withdraws the
// bid if nothing is left for which the lane needs one: no worker may come there for long, and callers of Wait
// and Close would wait for it.
func (e *Engine) reviewBid() {
	if e.queue.dead.Load() > 0 || e.suspects {
		e.queue.setGates(true, e.queue.tailGated)
		e.queue.shed(e.Void, e.gone)
		e.regate()
	}
	b := &e.lane.bid
	switch takes := e.needsToken(); {
	case !e.hasWork():
		e.unbid()
	case takes != b.takes:
		p := e.lane.parent
		p.lanes.become(b, takes, b.aged)
		p.lanes.look(p.root().now(), p.isDry())
		p.touch()
	}
}

// bidsForToken bids if e is a lane whose tasks can only wait for a token. It does so before the lock is released:
// the engine that joins the bucket stays throttled as long as one of its lanes bids.
func (e *Engine) bidsForToken() {
	if e.lane != nil && !e.bidding() && e.isDry() && e.needsToken() && (e.ready() || e.lined() || e.hasBids()) && !e.placeWanted() && e.permits.tryWake() {
		e.seek()
	}
}

// oldest returns when the oldest task of the queue was submitted, as far as that is known, on the clock of
// the root.
func (e *Engine) oldest() time.Duration {
	root := e.root()
	if m := e.queue.meter; m != nil && e.lane.bid.aging > 0 {
		for r := e.queue.head.Load(); r != nil; r = r.next {
			if at, ok := r.oldest(m.now()); ok {
				return e.clock.Sub(root.clock) + time.Duration(at)
			}
		}
	}
	return root.now()
}

// now returns the time since the engine was made. It is never 0, which stands for no turn: the clock of a test bubble may stand still.
func (e *Engine) now() time.Duration { return time.Since(e.clock) + 1 }

// press lets the workers of lanes know how urgently others want their places.
func (e *Engine) press() {
	b := e.lanes
	if b == nil {
		return
	}
	u := calm
	switch {
	case e.halted() || e.placeWanted() || e.delegating():
		u = pressed
	case e.hasBids():
		u = urgencyOf(b.highest(e.throttled()))
		if len(b.steps.items) > 0 {
			u |= aging
		}
		if e.lined() {
			u = max(u, urgencyOf(0)|u&aging)
		}
	case e.lined():
		u = urgencyOf(0)
	}
	if urgency(b.wanted.Load()) != u {
		b.wanted.Store(int64(u))
	}
}

// hasTurn reports whether the turn of w lasts at time now. It is hidden from the race detector: a task that
// waits ends the turn under the lock, on a goroutine that the detector does not order before the worker's.
//
//go:norace
func (w *Worker) hasTurn(now time.Duration) bool { return w.turn != 0 && now-w.turn < turn }

// givesWay reports whether w, which has no task, must leave its place, because others have a better claim to
// it. It must if any worker in its chain of carriers has to.
func (e *Engine) givesWay(w *Worker) bool {
	for u := w; w.carrier != nil; w = w.carrier {
		p := w.carrier.engine
		wanted := urgency(p.lanes.wanted.Load())
		if p.ready() {
			wanted = max(wanted, urgencyOf(0)|wanted&aging)
		}
		switch own := urgencyOf(w.engine.lane.bid.class.priority); {
		case wanted < own && (wanted == calm || wanted&aging == 0):
			continue
		case wanted <= own|aging && w.hasTurn(p.root().now()):
			continue
		}
		p.mu.Lock()
		over := !w.borrows() && p.turnIsOver(w)
		p.mu.Unlock()
		if over {
			for w.leaves = true; u != w; u = u.carrier { // those that it carries leave first, and none of them takes the turn that has just begun
				u.leaves = true
			}
			return true
		}
	}
	return false
}

// hasQueued reports whether there is a task in the queue that a worker may take.
func (e *Engine) hasQueued() bool {
	e.queue.advance()
	return !e.isDry() && (e.ready() || e.lined())
}

// turnIsOver reports whether w, which is carried by a worker of e, must leave its place. It charges the time
// for which w has had the place.
func (e *Engine) turnIsOver(w *Worker) bool {
	if e.halted() || e.placeWanted() || e.delegating() {
		return true
	}
	now := e.root().now()
	b := &w.engine.lane.bid
	began := w.turn <= e.lanes.from || e.lanes.calm // w began its turn before the others came
	e.lanes.charge(b, w.turn, now)
	w.turn = now
	e.lanes.backs(b, now)
	y := e.lanes.best(now, e.hasQueued(), e.isDry(), b.class.priority)
	began = began && y != nil && y.level == b.class.priority && !y.aged
	if y == b || !began && !b.cedes(y) {
		e.lanes.begins(b)
		return false
	}
	return true
}

// shutLanes closes the lanes of e, which is closed.
func (e *Engine) shutLanes() {
	if e.lanes == nil {
		return
	}
	for _, p := range e.lanes.all {
		l := p.Value()
		if l == nil || l.ended() {
			continue
		}
		if e.abandoned.Load() {
			l.abandoned.Store(true)
		}
		l.endsWith = true
		e.lanes.unended++
		l.shutLocked()
		l.hold()
		l.settle()
		l.touch()
	}
}

// hasUnended reports whether a lane that was closed with e has not ended.
func (e *Engine) hasUnended() bool { return e.lanes != nil && e.lanes.unended > 0 }

// endsLane follows the end of e, which may be a lane.
func (e *Engine) endsLane() {
	if e.endsWith {
		e.lane.parent.lanes.unended--
		e.lane.parent.touch()
	}
	if e.lane != nil {
		e.letGo()
	}
}

// ended reports whether e has been closed, and its last worker has ended.
func (e *Engine) ended() bool {
	if !e.closed {
		return false
	}
	select {
	case <-e.finished:
		return true
	default:
		return false
	}
}

// spareWorker returns a worker that has ended, for reuse; nil if none is kept.
func (e *Engine) spareWorker() *Worker {
	if e.lane == nil || e.lane.spare == nil {
		return nil
	}
	w := e.lane.spare
	e.lane.spare = nil
	w.gone = false
	return w
}

// hasRoom reports whether one more task may begin, by the permits of e and, for a lane, of the engines above.
// permits is the word of e.
func (e *Engine) hasRoom(permits uint64) bool {
	return !e.isDry() && e.hasPermits(permits)
}

// hasPermits is hasRoom, whether or not tasks in the queue of e wait for a token: lanes do not wait for those. The
// permit of a bid that waits for a token is for a task of such a lane, too.
func (e *Engine) hasPermits(permits uint64) bool {
	if active(permits) >= allowed(permits) && (!e.bidding() || !e.lane.bid.takes || e.halted()) {
		return false
	}
	p := e.parent()
	return p == nil || p.hasPermits(p.permits.word.Load())
}

// works notes that e, a lane, has a worker. rests notes that it has none any more.
func (e *Engine) works() {
	p := e.lane.parent.lanes
	e.lane.at = int32(len(p.working))
	p.working = append(p.working, e)
}

func (e *Engine) rests() {
	p := e.lane.parent.lanes
	if b := &e.lane.bid; b.served { // else served would keep the lane from becoming garbage
		p.forget(slices.Index(p.served, b))
	}
	last := len(p.working) - 1
	moved := p.working[last]
	p.working[e.lane.at], moved.lane.at = moved, e.lane.at
	p.working[last] = nil
	p.working = p.working[:last]
}

// regateLanes must follow each change of e by which tasks of lanes may not begin any more. The caller
// announces the change only afterwards: workers of lanes may be about to take a task.
func (e *Engine) regateLanes() {
	if e.lanes == nil {
		return
	}
	e.press()
	for _, l := range e.lanes.working {
		l.regate()
		l.regateLanes()
	}
}

// Lanes returns the runners of the lanes, the oldest first.
func (e *Engine) Lanes() (runners []Runner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lanes == nil {
		return nil
	}
	for _, p := range e.lanes.all {
		if l := p.Value(); l != nil {
			runners = append(runners, l.Runner)
		}
	}
	return runners
}

// SetShare changes the share of a lane.
func (e *Engine) SetShare(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lane.bid.share = int32(min(n, LargestShare))
}

// HasWorkers reports whether a worker has a permit, or is about to have one. It needs no lock.
func (e *Engine) HasWorkers() bool { return e.permits.active() > 0 }

// Emptied makes a lane rest whose tasks have been taken away, if it has no worker that would.
func (e *Engine) Emptied() {
	if e.lane.rested != nil && !e.HasWorkers() {
		e.lane.rested()
	}
}

// IsAtRest reports whether there is no task, no worker and no waiting submitter.
func (e *Engine) IsAtRest() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deserted() && !e.hasWork() && !e.throttled() && e.submitters.length == 0
}

// hold keeps a lane from becoming garbage that may have tasks and to which nothing else refers. Such a lane
// is paused, or was closed with its parent and has not ended.
func (e *Engine) hold() {
	p := e.lane.parent.lanes
	if p.held == nil {
		p.held = map[*Engine]struct{}{}
	}
	p.held[e] = struct{}{}
}

// letGo undoes hold. A map keeps its room for as many lanes as were ever held at once.
func (e *Engine) letGo() {
	p := e.lane.parent.lanes
	if delete(p.held, e); len(p.held) == 0 {
		p.held = nil
	}
}
