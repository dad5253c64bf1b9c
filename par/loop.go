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
// A claim is as large as will take the time span, judged by the worker's last one: one
// item at first, and always one if items take longer than that.
type loop struct {
	*options
	length int
	span   time.Duration
	body   func(w *worker, r share.Run) (next int) // returns the first item that it has not run
	bare   bool                                    // the body has no items that could fail

	callers context.Context // may have ended before ctx learns of it
	ctx     context.Context // cancelled by the first failure, which is then its cause
	cancel  context.CancelCauseFunc
	helpers taskGroup
	helper  func(context.Context) error // help, made a value once

	clock          time.Time    // when the loop began; times are since then
	working        atomic.Int64 // workers that take part at the moment
	share.Division              // places are taken by helpers that the group has; and by the caller, if it takes part

	begun    atomic.Bool // a helper has, since do asked for the first
	short    atomic.Bool // a helper did not come, and workers ask for others now and then
	watching sync.Once
	unwatch  func()

	mu       sync.Mutex
	failures []*weir.TaskError
	own      bool  // one of its items has ended the loop
	exited   bool  // a bare body has called runtime.Goexit
	refused  error // why the pool did not run a helper, the last such
}

// errOver is the cause with which a loop cancels helpers that have nothing to do.
var errOver = errors.New("par: all items are done")

// newLoop returns a loop that divides the items into at most so many shares at a time.
func newLoop(ctx context.Context, o *options, length, shares int, span time.Duration) *loop {
	l := &loop{options: o, length: length, span: span, clock: time.Now(), callers: ctx}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.helpers = o.newHelpers(l.ctx, l.cancel, l.lose)
	l.helper = l.help
	l.Init(o.limit, min(o.limit, length, shares))
	return l
}

// processors is how many goroutines can compute at once: the default limit, and the most
// shares that are worth having.
func processors() int { return runtime.GOMAXPROCS(0) }

// do runs the body for all items, on helpers alone, and returns what went wrong.
func (l *loop) do() error {
	defer l.end()
	l.Put(share.Run{Lo: 0, Hi: l.length})
	for {
		// Once a helper has found nothing to claim, no more are needed. A place
		// is taken here before the signal is looked at; the last helper to leave raises
		// Hungry before it looks at the places. So either Hungry is seen here, or the
		// last helper sees this one, and cancels it if it waits for room in the pool.
		l.begun.Store(false)
		for range min(l.limit, l.length) {
			if !l.Reserve() {
				break
			}
			if l.Signal.Load() != 0 {
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
		// The last helper has called runtime.Goexit, and no other could be had then.
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

// lose follows a helper that the pool has refused or handed back.
func (l *loop) lose(why error) {
	l.Cede()
	l.short.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = why
}

// noneRan returns why, if no helper has begun.
func (l *loop) noneRan() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun.Load() {
		return nil
	}
	return l.refused
}

// outcome is the error of a loop that is over.
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

// outerCause is [context.Cause], marked if it is the error of a task of a group, which is none of the items'.
func outerCause(ctx context.Context) error {
	return cause.Mark[*weir.TaskError](ctx, context.Cause(ctx))
}

func (l *loop) end() {
	if l.unwatch != nil {
		l.unwatch()
	}
	l.cancel(nil)
}

// fail notes that the function failed for an item, and reports whether the loop
// goes on.
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

// watch makes a cancellation of the loop's context known to workers between two
// items of a claim. Without it they look at the context before each claim,
// which is enough as long as claims are of one item.
func (l *loop) watch() {
	if l.bare {
		return // no goroutine can cancel it
	}
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

// recruit adds a helper, if there may be one, and that needs no waiting.
func (l *loop) recruit() bool {
	if !l.Reserve() {
		return false
	}
	if !l.helpers.TryGo(l.helper) {
		l.Cede()
		return false
	}
	return true
}

func (l *loop) now() time.Duration { return time.Since(l.clock) }
