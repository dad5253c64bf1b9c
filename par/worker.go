package par

import (
	"context"
	"math"
	"time"

	"github.com/64ed045f/weir"
)

// worker is one who takes part in a loop: a helper, or the caller.
type worker struct {
	loop     *loop
	ctx      context.Context // the function's
	share    *share
	grain    int           // how many items a claim is to have
	claim    run           // the items claimed last
	at       int           // the item that is run, of a body that says so
	began    time.Duration // when the claim was made
	ended    bool          // by itself, not by a panic or runtime.Goexit
	unseated bool          // no longer one of the loop's helpers
	state    any           // the body's own

	fresh  bool // it has just come, or has put items into its share
	claims int
	asking bool // for helpers now and then, as the pool may have had no room for all
}

func (l *loop) join(ctx context.Context) *worker {
	l.working.Add(1)
	seat := int(l.seats.Add(1)-1) % len(l.shares)
	return &worker{loop: l, ctx: ctx, share: &l.shares[seat], grain: 1, fresh: true}
}

// help is what a helper does.
func (l *loop) help(ctx context.Context) error {
	w := l.join(ctx)
	defer w.leave()
	w.work()
	w.ended = true
	return nil
}

func (w *worker) work() {
	l := w.loop
	w.began = l.now()
	for l.signal.Load()&halt == 0 && w.ctx.Err() == nil {
		var left int
		w.claim, left = w.share.claim(w.grain)
		if w.claim.empty() {
			if !l.refill(w.share) {
				if w.unseat() {
					return
				}
				continue
			}
			w.began, w.fresh = l.now(), true
			continue
		}
		w.claims++
		if w.shortHanded(left) {
			l.recruit()
		}
		w.at = w.claim.lo
		next := l.body(w, w.claim)
		w.adapt(next - w.claim.lo)
		if l.signal.Load()&halt == 0 {
			w.share.put(run{next, w.claim.hi}) // what it was interrupted at
			w.fresh = w.fresh || next < w.claim.hi
		}
	}
}

// unseat counts a worker out that has found nothing to claim. It reports false if the
// worker goes on, because there is something after all: what was on its way from
// one share to another. Whoever moved it looks for company afterwards. It then either sees
// hungry, and finds this one's place free, or has put the items down before this one looks.
func (w *worker) unseat() bool {
	l := w.loop
	l.helpers.Add(-1)
	l.signal.Or(hungry)
	w.unseated = l.drained() || !l.reserve()
	return w.unseated
}

// shortHanded reports whether a helper should be called, as there are items to claim:
// because the worker has just come, and each calls the next; because it has put
// items where those who have gone did not see them; because one has gone since; or
// because it is time to ask the pool again.
func (w *worker) shortHanded(left int) bool {
	l := w.loop
	if w.fresh {
		w.fresh = false
		return left > 0 || !l.drained()
	}
	if left == 0 {
		return false
	}
	if l.signal.Load()&hungry != 0 {
		l.signal.And(^uint32(hungry))
		return true
	}
	return w.asking && w.claims%16 == 0
}

// adapt chooses the size of the next claim by what the last one took. A slow claim
// shrinks it at once, a fast one doubles it at most: what was fast for long may turn
// slow any moment, and nobody else can run the items of a claim then.
func (w *worker) adapt(items int) {
	l := w.loop
	now := l.now()
	took := now - w.began
	w.began = now
	if took <= l.span && (items < w.grain || w.grain > math.MaxInt/2) {
		return // a claim cut short says too little
	}
	grain := 2 * w.grain
	if took > l.span/2 {
		grain = max(1, int(float64(items)*float64(l.span)/float64(took)))
	}
	if w.grain == 1 && grain > 1 {
		l.watch()
	}
	w.grain = grain
}

// interrupted is asked when a signal is up, before the item i of the worker's claim:
// it reports whether the worker shall leave the claim at that.
func (w *worker) interrupted(i int) bool {
	l := w.loop
	if l.signal.Load()&halt != 0 {
		return true
	}
	// Somebody could take over items that this claim keeps. That is not worth it if
	// the claim is soon over, as it was expected to be.
	return i > w.claim.lo && l.now()-w.began > 4*l.span
}

// fail notes that the item under way has failed, and reports whether to go on.
func (w *worker) fail(err error) bool { return w.loop.fail(w.at, err) }

// leave is deferred by all who take part. What it recovers it passes on.
func (w *worker) leave() {
	l := w.loop
	var value any
	again := false
	if !w.ended {
		if value = recover(); value != nil {
			l.signal.Or(halt)
		} else {
			again = w.exited()
		}
	}
	if !w.unseated {
		l.helpers.Add(-1)
	}
	if again {
		l.recruit() // in this one's place
	}
	// Helpers that still wait for a worker will find nothing to do, but in a pool it
	// may be long until they get one.
	if l.working.Add(-1) == 0 && l.helpers.Load() > 0 && (l.signal.Load()&halt != 0 || l.drained()) {
		l.crew.Cancel(errOver)
	}
	if value != nil {
		panic(value)
	}
}

// exited deals with an item that has called runtime.Goexit, and reports whether the loop
// goes on.
func (w *worker) exited() bool {
	l := w.loop
	if l.bare {
		l.signal.Or(halt)
		l.mu.Lock()
		l.exited = true
		l.mu.Unlock()
		return false
	}
	if !w.fail(weir.ErrGoexit) {
		return false
	}
	w.share.put(run{w.at + 1, w.claim.hi})
	return true
}
