package engine

import "sync/atomic"

// rated is what an engine has in addition if its tasks take tokens from a bucket. Each task takes one that a
// worker takes from the queue or from a waiting submitter. Subtasks and tasks that start out of turn take
// none, since they run in the place of the task that waits for them.
//
// When a worker, or a submitter under the lock, finds a task and no token, the engine joins the waiters of
// the bucket, and is throttled. Until grant gets it a token, the queue is as good as empty, and its head is
// gated.
//
// A lane with the bucket of its parent is never throttled. It bids for a place and a token together, and the
// parent takes the token: see needsToken. If there is none, the engine is throttled that joins the bucket for
// all of them, and such bids are passed over. So tokens go to lanes by the same order as places. And if now
// the tokens are scarce, now the places, no lane has to move between two lists of waiters.
//
// Invariant: while an engine is throttled, it is one of the bucket's waiters, or grant is about to be called.
// throttled is set under the lock. grant clears it under the lock, looks at the queue and the bids afterwards, and
// wakes a worker. Goroutines that add a task look at throttled afterwards.
type rated struct {
	bucket    *Bucket
	joins     *Engine // the engine that joins the bucket: this one, or the highest one above of which all below have the bucket
	waiter    TokenWaiter
	granted   atomic.Int64 // tokens that the bucket, or the parent, has granted and that are not used yet
	scarce    bool         // tasks have waited for these tokens
	late      bool         // the bucket granted more than one at once: its timer was late
	since     atomic.Int64 // when the bucket granted them, in ticks of its clock
	throttled atomic.Bool  // changed under Engine.mu
}

// Rate makes each task that is taken from the queue take a token from b. It must be called before the first
// task, and for a lane before InitLane.
func (e *Engine) Rate(b *Bucket) {
	e.rated = &rated{bucket: b, joins: e}
	e.takesTokens()
}

// takesTokens makes sure that all tasks of an engine with tokens reach workers by way of the queue.
func (e *Engine) takesTokens() {
	if e.rated != nil {
		e.AtOnce, e.Blocked = 0, 0
	}
}

// sharesTokens notes that e, a lane, may have the bucket of its parent.
func (e *Engine) sharesTokens() {
	if p := e.lane.parent; e.rated != nil && p.rated != nil && p.rated.bucket == e.rated.bucket {
		e.rated.joins = p.rated.joins
	}
}

// throttled reports whether e waits for a token as one of the waiters of the bucket.
func (e *Engine) throttled() bool { return e.rated != nil && e.rated.throttled.Load() }

// isDry reports whether e, or the engine above that joins the bucket for it, is throttled. Then a worker of e
// would find no token.
func (e *Engine) isDry() bool {
	r := e.rated
	return r != nil && r.granted.Load() == 0 && r.joins.throttled()
}

// needsToken reports whether all that e, a lane, has to do takes tokens from the bucket of the parent, and it has none.
func (e *Engine) needsToken() bool {
	return e.rated != nil && e.rated.joins != e && e.rated.granted.Load() == 0 && !e.delegating() && (e.lanes == nil || !e.lanes.want(false))
}

// ready reports whether a worker would find a task in the queue, and may take it. It needs no lock. In a lane
// that needs tokens a worker may find none: then the lane has to bid.
func (e *Engine) ready() bool { return e.queue.ready() && !e.throttled() }

// take takes a token, if there is one. Granted tokens that were not used in time go back first: the bucket
// may be full by now.
func (r *rated) take() bool {
	for n := r.granted.Load(); n > 0; n = r.granted.Load() {
		if r.bucket.isOld(r.since.Load()) {
			r.bucket.Return(int(r.granted.Swap(0)))
		} else if r.granted.CompareAndSwap(n, n-1) {
			return true
		}
	}
	if above := r.joins.rated; above != r {
		return above.take()
	}
	return r.bucket.Take()
}

// unused returns a token for which there was no task, and the granted tokens: a rest begins, after which
// there may be no more than burst.
func (r *rated) unused() { r.bucket.Return(1 + int(r.granted.Swap(0))) }

// admits takes a token for a task that is there. It is called under the lock. If there is no token, it
// throttles the engine that joins the bucket.
func (e *Engine) admits() bool {
	r := e.rated
	switch {
	case r == nil:
		return true
	case e.isDry():
		return false
	case r.take():
		return true
	case r.joins.throttled(): // e had granted tokens, until they were too old, or another worker took them
		return false
	}
	by := r.joins
	by.rated.throttled.Store(true)
	if by.rated.joinsBucket() {
		by.rated.throttled.Store(false)
		by.touch() // a submitter may have seen that it was throttled
		return true
	}
	by.regate()
	by.touch()
	for now := e.root().now(); ; e = e.lane.parent {
		if e.lanes != nil {
			e.lanes.ownBids = false
			e.lanes.look(now, true)
		}
		if e == by {
			return false
		}
	}
}

// joinsBucket takes a token and reports true, or makes the engine one of the waiters of the bucket and reports
// false.
func (r *rated) joinsBucket() bool {
	if r.waiter.Grant == nil {
		r.waiter.Grant, r.waiter.Many = r.joins.grant, true
	}
	return r.bucket.Join(&r.waiter)
}

// admitsBid takes a token for b, a bid for a place of e, if it needs one, and leaves it with the engine whose tasks
// are to take it. If b has waited for the token, price is what all places together run from one token to the next:
// bids that wait for tokens are charged for these, as those that wait for places are for run time.
func (e *Engine) admitsBid(b *bid) (price float64, ok bool) {
	r, to := e.rated, e
	if b.lane != nil {
		to = b.lane
	}
	if r == nil || b.lane != nil && !b.takes {
		return 0, true
	}
	from, since, scarce := r, r.bucket.now(), false
	if r.granted.Load() == 0 {
		from = r.joins.rated
	}
	if from.granted.Load() > 0 && !r.bucket.isOld(from.since.Load()) {
		since, scarce = from.since.Load(), from.scarce
	}
	if !e.admits() {
		return 0, false
	}
	if n := to.rated.granted.Load(); n > 0 && r.bucket.isOld(to.rated.since.Load()) {
		r.bucket.Return(int(to.rated.granted.Swap(0)))
	}
	to.rated.since.Store(since)
	to.rated.granted.Add(1)
	to.rated.scarce = scarce
	if scarce {
		price = float64(r.bucket.rate.Load().every) / tick * float64(e.places())
	}
	return price, true
}

// returnUnused returns the tokens that the parent of e, a lane, has granted for a place that e does not use for tasks
// which take tokens. It leaves the token of a worker that is on its way.
func (e *Engine) returnUnused() {
	if r := e.rated; r != nil && r.joins != e && r.granted.Load() > 0 && !e.coming() {
		if n := r.granted.Swap(0); n > 0 {
			r.bucket.Return(int(n))
		}
	}
}

// unthrottle ends the throttling, and returns granted tokens, if no task is left for them: all have been handed
// back, have started out of turn, or are void. It also returns tokens that no worker comes for, as there is no place
// any more, or a pause: together with those that come meanwhile they would be more than burst. The tasks of e take
// tokens.
func (e *Engine) unthrottle() {
	r := e.rated
	if r.joins != e || !r.throttled.Load() && r.granted.Load() == 0 {
		return
	}
	if r.throttled.Load() && (e.queue.dead.Load() > 0 || e.suspects) { // then the head is gated
		e.queue.shed(e.Void, e.gone)
	}
	awaits := e.awaitsTokens()
	if !awaits || !e.coming() && !e.hasPermits(e.permits.word.Load()) {
		if n := r.granted.Load(); n > 0 && !e.makesUp() {
			r.bucket.Return(int(r.granted.Swap(0)))
		}
	}
	if r.throttled.Load() && !awaits && r.bucket.Leave(&r.waiter) {
		r.throttled.Store(false)
	}
}

// makesUp reports whether granted tokens may make up for a late timer: e is busy, and the timer was late by more than
// the time from one token to the next. Those that are not used in time go back later, see take.
func (e *Engine) makesUp() bool {
	r := e.rated
	return r.late && e.permits.active() > 0 && !e.halted() && !r.bucket.isOld(r.since.Load())
}

// places returns how many tasks of e may run at once, by the limits of e and of the engines above: at most a number
// for which prices are still exact.
func (e *Engine) places() int {
	n := 1 << 16
	for ; e != nil; e = e.parent() {
		n = min(n, e.limit)
	}
	return n
}

// awaitsTokens reports whether there is a task that needs a token, or a lane that bids for one.
func (e *Engine) awaitsTokens() bool {
	return e.holdsTasks() || e.lanes != nil && e.lanes.want(true)
}

// holdsTasks reports whether there is a task that needs a token.
func (e *Engine) holdsTasks() bool {
	return e.queue.len() > 0 || e.queue.capacity == 0 && e.submitters.length > 0
}

// grant ends the throttling. The tokens go back if there is no task any more: tasks may have been handed
// back, or have started out of turn. They also go back if there is no place for a task: the worker that next
// has a place takes a token.
func (e *Engine) grant(tokens int) {
	e.mu.Lock()
	r := e.rated
	r.throttled.Store(false)
	if e.lanes != nil {
		e.lanes.look(e.root().now(), false)
	}
	if word := e.permits.word.Load(); e.awaitsTokens() && (e.hasRoom(word) || word&searchingBit != 0) {
		r.since.Store(r.bucket.now())
		r.granted.Add(int64(tokens))
		r.scarce, r.late = true, tokens > 1
	} else {
		r.bucket.Return(tokens)
	}
	e.unlock()
}
