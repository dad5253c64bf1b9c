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
// Invariant: while the engine is throttled, it is one of the bucket's waiters, or grant is about to be
// called. throttled is set under the lock. grant clears it under the lock, looks at the queue afterwards, and
// wakes a worker. Goroutines that add a task look at throttled afterwards.
type rated struct {
	bucket    *Bucket
	waiter    TokenWaiter
	granted   atomic.Int64 // tokens that the bucket has granted and that are not used yet
	since     atomic.Int64 // when it granted them, in ticks of its clock
	throttled atomic.Bool  // changed under Engine.mu
}

// Rate makes each task that is taken from the queue take a token from b. It must be called before the first
// task, and for a lane before InitLane.
func (e *Engine) Rate(b *Bucket) {
	e.rated = &rated{bucket: b}
	e.rated.waiter = TokenWaiter{Grant: e.grant, Many: true}
	e.takesTokens()
}

// takesTokens makes sure that all tasks of an engine with tokens reach workers by way of the queue.
func (e *Engine) takesTokens() {
	if e.rated != nil {
		e.AtOnce, e.Blocked = 0, 0
	}
}

// throttled reports whether tasks in the queue wait for a token.
func (e *Engine) throttled() bool { return e.rated != nil && e.rated.throttled.Load() }

// ready reports whether a worker would find a task in the queue, and may take it. It needs no lock.
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
	return r.bucket.Take()
}

// unused returns a token for which there was no task, and the granted tokens: a rest begins, after which
// there may be no more than burst.
func (r *rated) unused() { r.bucket.Return(1 + int(r.granted.Swap(0))) }

// admits takes a token for a task that is there. It is called under the lock. If there is no token, it
// throttles the engine.
func (e *Engine) admits() bool {
	r := e.rated
	switch {
	case r == nil:
		return true
	case r.throttled.Load():
		return false
	case r.take():
		return true
	}
	r.throttled.Store(true)
	if !r.bucket.Join(&r.waiter) {
		e.regate()
		return false
	}
	r.throttled.Store(false)
	return true
}

// unthrottle ends the throttling if no task is left in the queue: all have been handed back, have started out
// of turn, or are void.
func (e *Engine) unthrottle() {
	if !e.throttled() {
		return
	}
	if e.queue.dead.Load() > 0 || e.suspects {
		e.queue.shed(e.Void, e.gone)
	}
	if !e.holdsTasks() && e.rated.bucket.Leave(&e.rated.waiter) {
		e.rated.throttled.Store(false)
	}
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
	if word := e.permits.word.Load(); e.holdsTasks() && (e.hasRoom(word) || word&searchingBit != 0) {
		r.since.Store(r.bucket.now())
		r.granted.Add(int64(tokens))
	} else {
		r.bucket.Return(tokens)
	}
	e.unlock()
}
