package par

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/cause"
	"github.com/64ed045f/weir/internal/share"
)

// loop runs a body for the items from 0 to length, divided among helpers: see package share.
//
// A worker sizes its next claim to take the time span, judging by its last claim. A claim starts at one item,
// and stays at one if items take longer than span.
type loop struct {
	*options
	length int
	span   time.Duration
	body   func(w *worker, r share.Run) (next int) // returns the first item that it has not run
	bare   bool                                    // the body has no items that could fail

	callers context.Context // the parent of ctx; may end a moment before ctx does
	ctx     context.Context // cancelled by the first failure, with that failure as its cause
	cancel  context.CancelCauseFunc
	helpers taskGroup
	helper  func(context.Context) error // the method value of help, made once

	clock          time.Time // when the loop began; now counts from it
	share.Division           // places are held by the helpers in the group, and by the caller if it takes part

	begun    atomic.Bool // a helper has begun since do asked for the first one
	short    atomic.Bool // the pool has refused or lost a helper; workers ask for another one from time to time
	watching sync.Once
	unwatch  func()

	mu       sync.Mutex
	failures []*weir.TaskError
	own      bool  // the failure of an item of this loop has ended it
	exited   bool  // a bare body has called runtime.Goexit
	panicked bool  // a worker has panicked
	refused  error // why the pool did not run a helper; the last reason
}

// errOver is the cause with which a loop cancels helpers that would find nothing to do.
var errOver = errors.New("par: all items are done")

// newLoop returns a loop that divides the items into at most the given number of shares at a time.
func newLoop(ctx context.Context, o *options, length, shares int, span time.Duration) *loop {
	l := &loop{options: o, length: length, span: span, clock: time.Now(), callers: ctx}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.helpers = o.newHelpers(l.ctx, l.cancel, l.lose)
	l.helper = l.help
	l.Init(o.limit, min(o.limit, length, shares))
	return l
}

// processors returns how many goroutines can compute at once: the default limit, and the largest useful
// number of shares.
func processors() int { return runtime.GOMAXPROCS(0) }

// do runs the body for all items, on helpers only, and returns the error of the loop.
func (l *loop) do() error {
	defer l.end()
	l.Put(share.Run{Lo: 0, Hi: l.length})
	for {
		// Once a helper has found nothing to claim, no more helpers are needed. This goroutine reserves a
		// place and then reads the signal; the last helper to leave raises Hungry and then reads the places.
		// So either this goroutine sees Hungry, or the last helper sees the new place, and cancels a helper
		// that waits for room in the pool.
		l.begun.Store(false)
		for range min(l.limit, l.length) {
			if !l.Reserve() {
				break
			}
			if l.Signal.Load() != 0 || l.ctx.Err() != nil { // helpers of a loop that has ended raise no signal
				l.Cede()
				break
			}
			l.helpers.Go(l.helper)
		}
		err := l.helpers.Wait()
		if l.Drained() || l.ctx.Err() != nil {
			return l.outcome(nil)
		}
		if refused := cmp.Or(l.noneRan(), refusal(err)); refused != nil {
			return l.outcome(refused)
		}
		// The last helper has called runtime.Goexit, and no other helper could be had at that time.
		l.Again()
	}
}

// refusal returns why the pool has cancelled a group of helpers, if it has.
func refusal(err error) error {
	if errors.Is(err, weir.ErrClosed) {
		return weir.ErrClosed
	}
	return nil
}

// lose is called for a helper that the pool has refused or handed back.
func (l *loop) lose(why error) {
	l.Cede()
	l.short.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = cmp.Or(why, l.refused)
}

// noneRan returns why the pool refused the helpers, if no helper has begun.
func (l *loop) noneRan() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun.Load() {
		return nil
	}
	return l.refused
}

// outcome returns the error of a loop that is over.
func (l *loop) outcome(refused error) error {
	why := cmp.Or(context.Cause(l.ctx), context.Cause(l.callers))
	if !l.own {
		why = cause.Mark[*weir.TaskError](l.callers, why)
	}
	if !l.keepGoing || len(l.failures) == 0 {
		return cmp.Or(why, refused)
	}
	slices.SortFunc(l.failures, func(x, y *weir.TaskError) int { return cmp.Compare(x.Index, y.Index) })
	errs := make([]error, 0, len(l.failures)+2)
	for _, failure := range l.failures {
		errs = append(errs, failure)
	}
	return errors.Join(append(errs, refused, why)...)
}

// outerCause returns [context.Cause] of ctx. It marks a TaskError, which comes from a group outside the loop,
// so that callers cannot take it for an error of one of the loop's items.
func outerCause(ctx context.Context) error {
	return cause.Mark[*weir.TaskError](ctx, context.Cause(ctx))
}

func (l *loop) end() {
	if l.unwatch != nil {
		l.unwatch()
	}
	l.cancel(nil)
}

// fail records that the function failed for an item, and reports whether the loop goes on.
func (l *loop) fail(index int, err error) bool {
	failure := &weir.TaskError{Index: index, Err: err}
	if !l.keepGoing {
		l.Signal.Or(share.Halt)
		l.cancel(cmp.Or(context.Cause(l.callers), error(failure)))
		if context.Cause(l.ctx) == error(failure) { //nolint:errorlint // it, and no other
			l.mu.Lock()
			l.own = true
			l.mu.Unlock()
		}
		return false
	}
	l.mu.Lock()
	l.failures = append(l.failures, failure)
	l.mu.Unlock()
	return true
}

// watch raises a signal when the loop's context is cancelled.
func (l *loop) watch() {
	l.watching.Do(func() {
		halted := make(chan struct{})
		stop := context.AfterFunc(l.ctx, func() {
			l.Signal.Or(share.Halt)
			close(halted)
		})
		l.unwatch = func() {
			if !stop() {
				<-halted // its goroutine must not outlive the loop
			}
		}
	})
}

// recruit adds a helper, if the limit allows one and the pool takes it without waiting.
func (l *loop) recruit() bool {
	if !l.Reserve() {
		return false
	}
	if !l.helpers.TryGo(l.helper) {
		l.Cede()
		l.short.Store(true)
		return false
	}
	return true
}

func (l *loop) now() time.Duration { return time.Since(l.clock) }
