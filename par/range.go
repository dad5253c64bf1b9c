package par

import (
	"context"
	"runtime"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/share"
)

const (
	// rangeSpan is how long a call of Range's body should take. That is long compared to the 100 ns that a
	// call, its claim and a look at the clock cost. It is short compared to a loop that is worth dividing.
	rangeSpan = 10 * time.Microsecond

	// worthwhile is how long the rest of a Range must be expected to take before helpers are started for it.
	// Waking another processor for a loop of half that length gained nothing.
	worthwhile = 50 * time.Microsecond

	// measurable is how long a call must have taken to be the basis of such an estimate. Reading the clock
	// takes about 50 ns of it.
	measurable = time.Microsecond
)

// Range calls body for the indices from 0 to n, in ranges: body(lo, hi) handles the indices from lo up to,
// not including, hi. Each index is in exactly one range. Calls run concurrently, in no particular order; the
// caller makes some of them itself. A negative n panics.
//
// [Limit] counts the caller, too. With [On], helpers are tasks of the pool, as far as the pool has room for
// them at that time. The caller computes in addition to the pool's tasks, unless it is itself a task of the
// pool.
//
// If body panics, Range makes no more calls, waits for those that run, and panics with a [*weir.Panic] that
// carries the stack of the call. If body calls [runtime.Goexit], so does Range.
//
// The start of Range synchronizes before each call, and the end of each call synchronizes before the return
// of Range. Without options, Range allocates nothing unless it starts helpers.
func Range(n int, body func(lo, hi int), opts ...Option) {
	must(n >= 0, "number of indices must be at least 0", n)
	mustFunction(body != nil)
	o := newOptions(opts)
	call := measuredRange(o.meter, body)
	if lo, grain := runAlone(o.limit, n, call); lo < n {
		if grain > 1 {
			o.limit = min(o.limit, processors()) // a quick body does not wait for anything
		}
		divide(o, share.Run{Lo: lo, Hi: n}, grain, call)
	}
}

// runAlone runs the body until the rest is worth dividing. It returns the first index that is left, and how
// many indices make a good call.
func runAlone(limit, n int, body func(lo, hi int)) (lo, grain int) {
	ended := false
	defer func() {
		if !ended {
			if value := recover(); value != nil {
				panic(caught(value))
			}
		}
	}()
	if n == 1 || limit == 1 && n > 0 {
		body(0, n)
		lo = n
	}
	var clock time.Time
	var before time.Duration
	for grain = 1; lo < n; grain = min(grain, n/2) * 2 {
		if lo == 0 {
			clock = time.Now()
		}
		// Take only a part of the rest, in case the next indices are slower.
		indices := min(grain, max(1, (n-lo)/4))
		body(lo, lo+indices)
		if lo += indices; lo == n {
			break
		}
		now := time.Since(clock)
		took := now - before
		before = now
		if took >= measurable && float64(took)/float64(indices)*float64(n-lo) > float64(worthwhile) {
			grain = max(1, int(float64(indices)*min(1, float64(rangeSpan)/float64(took))))
			break
		}
	}
	ended = true
	return lo, grain
}

// divide runs the body for the indices of r on the caller and helpers.
func divide(o options, r share.Run, grain int, body func(lo, hi int)) {
	l := newLoop(context.Background(), &o, r.Hi-r.Lo, processors(), rangeSpan)
	l.bare = true
	l.body = func(_ *worker, r share.Run) int {
		body(r.Lo, r.Hi)
		return r.Hi
	}
	l.Put(r)
	l.doWithCaller(grain)
}

// doWithCaller runs the body for all items, on the caller and helpers.
func (l *loop) doWithCaller(grain int) {
	defer l.end()
	l.takesPart(grain)
	for !l.Drained() { // a helper that the pool has ended in the middle had taken over indices after the caller left
		l.Again()
		l.takesPart(grain)
	}
}

// takesPart makes the caller a worker of the loop, and returns when no worker is left.
func (l *loop) takesPart(grain int) {
	l.Reserve()
	w := l.newWorker(l.ctx)
	w.grain, w.asking = grain, l.pool != nil
	defer w.conclude()
	defer w.finish()
	for range l.length - 1 {
		if l.Signal.Load() != 0 || !l.recruit() {
			break
		}
	}
	w.work()
	w.ended = true
}

// conclude is deferred by a caller that takes part. It waits for the helpers, and panics if one of the workers has.
func (w *worker) conclude() {
	l := w.loop
	var own *weir.Panic
	if value := recover(); value != nil {
		own = caught(value)
	}
	// Helpers return no error: they can only panic or exit.
	g, ok := l.helpers.(*goroutines)
	switch {
	case own == nil:
	case ok:
		g.note(own) // Wait panics with the first one
	case w.first:
		l.waitAfterPanic(l.helpers)
		panic(own)
	default:
		l.report(own)
	}
	_ = l.helpers.Wait()
	if w.ended && l.exited {
		runtime.Goexit()
	}
}
