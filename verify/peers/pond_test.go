package peers_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/peers"
)

// pondPeer is answered by Pool and, where its tests ask for the end or the value of a task, by
// Future, Group and Results. Its sub-pools are groups with a Limit.
var pondPeer = peers.Peer{
	Name:   "pond",
	Module: "github.com/alitto/pond/v2",
	Cases:  slices.Concat(pondAgrees.cases(), pondDiffers.cases(), pondOwn),
	Apart: []peers.Apart{
		{
			Theirs: names{"future.TestFutureResolutionError", "future.TestValueFutureResolutionError"},
			Reason: "they pin the text of a value that never leaves the package",
		},
		{
			Theirs: names{"future.TestCompositeFutureResolveWithIndexOutOfRange"},
			Reason: "no caller gives a result its number: the pool counts them itself",
		},
	},
}

// pondOwn are the cases that no test of the library shows as a whole.
var pondOwn = []peers.Case{
	{
		Name: "WhatRunsToItsEndCounts",
		Theirs: names{"pond.TestPoolStoppedAfterCancel", "pond.TestResultPoolSubmitContextCanceled",
			"pond.TestPoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
			"pond.TestSubpoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks", "future.TestFutureWaitWithCanceledContext",
			"future.TestValueFutureWaitWithCanceledContext"},
		Behaviour: "A task that runs while its context ends is reported as cancelled, and what it returns is lost.",
		Different: "What it returns counts, be it a value or an error: it has run, and a caller that waits for it must know what it did.",
		Ours:      names{"weir.TestAFutureWhoseTaskHasStartedEndsWithTheTask", "weir.TestScenario06AFutureAlwaysResolves/cancelled in the queue"},
		Run: func(t *testing.T) {
			p := endless(1)
			ctx, cancel := context.WithCancel(t.Context())
			value, err := weir.Async(ctx, p, func(context.Context) (int, error) { cancel(); return 222, errBoom }).Get(t.Context())
			check.Equal(t, "value", value, 222)
			check.Error(t, err, errBoom)
			p.Close()
			check.Equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Closed: true, Accepted: 1, Finished: 1})
		},
	},
	{
		Name:      "AnExitedGoroutineIsCalledThat",
		Theirs:    names{"pond.TestTaskInvokesGoexitAndPoolRecovers"},
		Behaviour: "A caller that waits for a task that ended its goroutine gets the error that the pool was stopped.",
		Different: "The error is ErrGoexit, which says what happened; the pool may well be open.",
		Ours:      names{"weir.TestScenario06AFutureAlwaysResolves/Goexit"},
		// It finds at once that Get blocks for ever. Of the library's tests, another one comes first, and hangs.
		Run: func(t *testing.T) {
			p := endless(1)
			_, err := weir.Async(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }).Get(t.Context())
			check.Error(t, err, weir.ErrGoexit)
			p.Close()
		},
	},
	{
		Name:      "TheEndOfTheContextIsToldEvenAfterSuccess",
		Theirs:    names{"future.TestCompositeFutureWaitWithContextCanceledAfterResolution", "future.TestCompositeFutureCancel"},
		Behaviour: "If the context ends, or the group is stopped, when all tasks have succeeded, a wait that begins after that returns no error.",
		Different: "Wait returns the cause, and all values: which came first is a race that the caller cannot see, and code that cancels may rely on the error.",
		Run: func(t *testing.T) {
			p := endless(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			r := weir.NewResults[string](g)
			tells := func(end func(), cause error) {
				r.Go(func(context.Context) (string, error) { return "output1", nil })
				p.Wait()
				end()
				values, err := r.Wait()
				check.Equal(t, "error", err, cause)
				check.Equal(t, "the value is there", slices.Equal(values, []string{"output1"}), true)
			}
			tells(func() { g.Cancel(errBoom) }, errBoom)
			tells(cancel, context.Canceled)
			p.Close()
		},
	},
	{
		Name:      "PartsHaveLimitsOfTheirOwn",
		Theirs:    names{"pond.TestSubpool"},
		Behaviour: "A part of a pool runs no more tasks at once than its own limit says, and neither does a part of that part, while others use the pool, too.",
		Run: func(t *testing.T) {
			const tasks, pause = 10, 10 * time.Millisecond
			p := endless(10)
			timed := func(ctx context.Context, limit int) error {
				start := time.Now()
				g := p.Group(ctx, weir.Limit(limit))
				for range tasks {
					g.Go(func(context.Context) error { time.Sleep(pause); return nil })
				}
				err := g.Wait()
				check.Equal(t, "time", time.Since(start), time.Duration(tasks/limit)*pause)
				return err
			}
			whole := p.Group(t.Context())
			whole.Go(func(ctx context.Context) error { return timed(t.Context(), 5) })
			part := p.Group(t.Context(), weir.Limit(5))
			part.Go(func(ctx context.Context) error { return timed(ctx, 1) })
			check.OK(t, part.Wait())
			check.OK(t, whole.Wait())
			p.Close()
		},
	},
	{
		Name:      "APartMayHaveMoreThanItsPool",
		Theirs:    names{"pond.TestSubpoolMaxConcurrency", "pond.TestResultSubpoolMaxConcurrency"},
		Behaviour: "A part panics if its limit is above that of the pool.",
		Different: "It is allowed, and the lower of the two holds: the pool may be resized at any time, and a part that was right must not become a mistake.",
		Run: func(t *testing.T) {
			p := endless(2)
			part := p.Group(t.Context(), weir.Limit(3))
			v := check.NewValve()
			for range 3 {
				part.Go(v.Member)
			}
			check.Equal(t, "a fourth is accepted", part.TryGo(v.Member), false)
			synctest.Wait()
			check.Equal(t, "tasks that run", p.Stats().Running, 2)
			p.Resize(10)
			synctest.Wait()
			check.Equal(t, "tasks that run in a larger pool", p.Stats().Running, 3)
			v.Open()
			check.OK(t, part.Wait())
			p.Close()
		},
	},
	{
		Name:      "TheLimitOfThePoolStays",
		Theirs:    names{"pond.TestSubpoolResize"},
		Behaviour: "A new limit of a part, higher or lower, leaves that of the pool as it is.",
		Run: func(t *testing.T) {
			p := endless(10)
			part := p.Group(t.Context(), weir.Limit(5))
			for _, limit := range []int{7, 1, 20} {
				part.Resize(limit)
				check.Equal(t, "limit of the pool", p.Stats().Limit, 10)
			}
			p.Close()
		},
	},
}
