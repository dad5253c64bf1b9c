package par

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/share"
)

// worker is a participant in a loop: a helper, or the caller.
type worker struct {
	loop *loop
	ctx  context.Context // passed to the function
	share.Worker
	grain  int           // how many items the next claim asks for
	claim  share.Run     // the items claimed last
	at     int           // the item that runs, if the body records it
	began  time.Duration // when the claim was made
	ended  bool          // returned normally, without a panic or runtime.Goexit
	first  bool          // was the first to panic
	state  any           // belongs to the body
	claims int
	asking bool // asks for helpers from time to time, as the pool may have had no room for all
	// signal is read before each item, and is 0 if there is nothing to notice. It points to the loop's signal,
	// or to raised, which is never 0: then the worker asks the loop's context before each item.
	signal *atomic.Uint32
	raised atomic.Uint32
	asked  int // items before which the worker has asked the context; after mostAsked it reads the loop's signal
}

func (l *loop) newWorker(ctx context.Context) *worker {
	w := &worker{loop: l, ctx: ctx, Worker: l.Join(), grain: 1}
	w.raised.Store(1)
	return w
}

// help is the task of a helper.
func (l *loop) help(ctx context.Context) error {
	l.begun.Store(true)
	w := l.newWorker(ctx)
	defer w.finish()
	w.work()
	if !l.bare {
		l.heed(ctx)
	}
	w.ended = true
	return nil
}

// heed ends the loop if the context of a helper has ended, as it does when the pool is shut down: the
// function may have given up half-way. It is not called for a bare body, which knows no context: there the
// caller does what helpers leave.
func (l *loop) heed(ctx context.Context) {
	if l.callers.Err() != nil {
		l.cancel(context.Cause(l.callers))
		return
	}
	if cause := context.Cause(ctx); cause != nil && cause != errOver { //nolint:errorlint // as finish has set it
		l.cancel(cause)
	}
}

func (w *worker) work() {
	l := w.loop
	w.began = l.now()
	for l.Signal.Load()&share.Halt == 0 && w.ctx.Err() == nil && l.callers.Err() == nil {
		var left int
		var more bool
		w.claim, left, more = w.Claim(w.grain)
		if !more {
			return
		}
		if w.claim.Empty() {
			w.began = l.now()
			continue
		}
		w.claims++
		if w.Alone(left, w.claims%16 == 0 && (w.asking || l.short.Load())) {
			l.recruit()
		}
		w.chooseSignal(w.claim.Hi - w.claim.Lo)
		w.at = w.claim.Lo
		next := l.body(w, w.claim)
		w.adapt(next - w.claim.Lo)
		if l.Signal.Load()&share.Halt == 0 {
			w.Put(share.Run{Lo: next, Hi: w.claim.Hi}) // what it was interrupted at
		}
	}
}

// adapt chooses the size of the next claim by the time that the last one took. A slow claim shrinks it at
// once; a fast one at most doubles it. Items that were fast for long may turn slow at any moment, and then no
// other worker can run the items of this claim.
func (w *worker) adapt(items int) {
	l := w.loop
	now := l.now()
	took := now - w.began
	w.began = now
	if took <= l.span && (items < w.grain || w.grain > math.MaxInt/2) {
		return // an interrupted claim says too little
	}
	grain := 2 * w.grain
	if took > l.span/2 {
		grain = max(1, int(float64(items)*float64(l.span)/float64(took)))
	}
	w.grain = grain
}

// mostAsked is before how many items a worker asks the loop's context. Watching the context costs as much as
// asking it some hundred times, and most loops are over before.
const mostAsked = 128

// chooseSignal chooses how the worker notices, between two items of a claim of n items, that the loop's context is
// cancelled. Before a claim it asks the contexts anyway.
func (w *worker) chooseSignal(n int) {
	l := w.loop
	w.signal = &l.Signal
	switch {
	case n == 1 || l.bare: // no goroutine can cancel a bare loop
	case w.asked+n <= mostAsked:
		w.asked += n
		w.signal = &w.raised
	default:
		l.watch()
	}
}

// interrupted is called when the worker's signal is raised, before the item i of its claim. It reports whether
// the worker must leave the claim at that item.
func (w *worker) interrupted(i int) bool {
	l := w.loop
	signal := l.Signal.Load()
	switch {
	case signal&share.Halt != 0, w.signal == &w.raised && l.ctx.Err() != nil:
		return true
	case signal == 0:
		return false
	}
	// Another worker could take over items that this claim keeps. That is not worth its cost if the claim is
	// over soon, as expected.
	return i > w.claim.Lo && l.now()-w.began > 4*l.span
}

// fail records that the current item has failed, and reports whether to go on.
func (w *worker) fail(err error) bool {
	l := w.loop
	if !l.keepGoing {
		l.heed(w.ctx) // if the context has ended, the loop reports its cause instead of the error
	}
	return l.fail(w.at, err)
}

// finish is deferred by every worker. It panics again with the value that it recovers.
func (w *worker) finish() {
	l := w.loop
	var value any
	again := false
	if !w.ended {
		if value = recover(); value != nil {
			l.Signal.Or(share.Halt)
			l.mu.Lock()
			w.first = !l.panicked
			l.panicked = true
			l.mu.Unlock()
		} else {
			again = w.exited()
		}
	}
	w.Leave()
	if again {
		l.recruit() // replaces this worker
	}
	if w.End() {
		l.helpers.Cancel(errOver) // those that wait for a worker: on a pool that may be for long
	}
	if value != nil {
		panic(value)
	}
}

// exited handles an item that has called runtime.Goexit, and reports whether the loop goes on.
func (w *worker) exited() bool {
	l := w.loop
	if l.bare {
		l.Signal.Or(share.Halt)
		l.mu.Lock()
		l.exited = true
		l.mu.Unlock()
		return false
	}
	l.heed(w.ctx)
	if !w.fail(weir.ErrGoexit) {
		return false
	}
	w.Put(share.Run{Lo: w.at + 1, Hi: w.claim.Hi})
	return true
}
