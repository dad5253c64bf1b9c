package weir

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// RateLimit limits how often tasks begin: see [Rate]. Any number of pools, lanes, groups and goroutines may
// share one, and call all methods at once.
type RateLimit struct{ bucket *engine.Bucket }

// Rate limits how often tasks begin: n in each per, evenly spaced, and up to burst at once after a rest. So at most
// n × d / per + burst begin in any time d. It is a token bucket, like that of golang.org/x/time/rate. As an option it
// applies
//
//   - to a pool or lane: a task stays in the queue until it has its turn, and only then takes a place. A full
//     queue makes submitters wait, as always, and Close waits for all turns.
//   - to a group: Go waits for the turn of its task before it hands the task over, and TryGo reports false if
//     that turn is later.
//
// par.Rate applies it to the items of a loop or a stream, as does par.On with a pool that has one, and
// [RateLimit.Wait] applies it to anything else, such as a call inside a task. The package documentation says,
// under Rates, which tasks need no turn, and what may come on top. A RateLimit that is used in a test bubble
// must be made there. n, per and burst must be more than 0, and per × burst / n less than a year.
func Rate(n int, per time.Duration, burst int) *RateLimit {
	mustRate(n, per, burst)
	return &RateLimit{bucket: engine.NewBucket(n, per, burst)}
}

func mustRate(n int, per time.Duration, burst int) {
	must(engine.FitsBucket(n, per, burst), "rate must be n > 0 in a time > 0 with a burst > 0, and per × burst / n less than a year", []any{n, per, burst})
}

// Set changes the limit, also for the tasks and callers that wait already. It does not block. A higher burst
// takes effect after a rest, not at once.
func (r *RateLimit) Set(n int, per time.Duration, burst int) {
	r.mustBeMade()
	mustRate(n, per, burst)
	r.bucket.Set(n, per, burst)
}

// Wait waits for the turn of its caller, in order with tasks. If ctx ends first, Wait returns the cause of
// ctx and takes no turn. A task that calls Wait keeps its place, since it may hold a lock that other tasks
// wait for; inside [Blocking] it does not.
func (r *RateLimit) Wait(ctx context.Context) error {
	r.mustBeMade()
	mustContext(ctx != nil)
	return r.wait(ctx, func(wait func()) { wait() })
}

// waitPlaceless is Wait without a place.
func (r *RateLimit) waitPlaceless(ctx context.Context) error {
	return r.wait(ctx, func(wait func()) { Blocking(ctx, wait) })
}

// wait is Wait, which calls blocking if it has to wait.
func (r *RateLimit) wait(ctx context.Context, blocking func(wait func())) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if apartly(r.bucket.Take) {
		return nil
	}
	done := ctx.Done()
	ok := false
	blocking(func() {
		ok = apartly(func() bool {
			turn := make(chan struct{})
			w := engine.TokenWaiter{Grant: func(int) { close(turn) }}
			if r.bucket.Join(&w) {
				return true
			}
			select {
			case <-turn:
				return true
			case <-done:
				return !r.bucket.Leave(&w)
			}
		})
	})
	if !ok {
		return causeOf(ctx)
	}
	return nil
}

// takesTurn waits for the turn of a task of the group. It reports false if the batch was cancelled meanwhile.
func (g *Group) takesTurn(b *batch) bool {
	r := g.options.rate.bucket
	if r.Take() {
		return true
	}
	var s stay
	var granted atomic.Bool
	s.task = g.task()
	s.init(g.hostEngine())
	if b.subtasks != nil {
		g.needEngine()
		defer s.with(g.pool, b.subtasks.Want())()
	}
	w := engine.TokenWaiter{Grant: func(int) {
		granted.Store(true)
		s.wake(nil)
	}}
	if r.Join(&w) {
		return true
	}
	done := b.done()
	for {
		woken := s.wait(done, nil, nil)
		s.arrive()
		switch {
		case woken && granted.Load():
			return true
		case woken: // to look again
		default:
			if !r.Leave(&w) {
				r.Return(1)
			}
			return false
		}
	}
}

// returnTurn gives the turn back of a task that was not handed over.
func (g *Group) returnTurn() { g.options.rate.giveBack() }

// giveBack gives a turn back. r may be nil.
func (r *RateLimit) giveBack() {
	if r != nil {
		r.bucket.Return(1)
	}
}

func (r *RateLimit) mustBeMade() {
	must(r != nil && r.bucket != nil, "rate must be made by Rate", "nil or the zero value")
}

// apply implements [Option].
func (r *RateLimit) apply(o *options) {
	r.mustBeMade()
	must(o.rate == nil, "rate must be given once", "two")
	o.rate = r
}

// groupOption implements [GroupOption].
func (r *RateLimit) groupOption() string { return ofAll }

// ofAll is in place of the name of an option that pools take as well.
const ofAll = ""
