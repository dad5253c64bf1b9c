package peers_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondPoolCases are about how a pool takes tasks, and counts them.
var pondPoolCases = []peers.Case{
	{
		Name:      "EachCallSaysWhetherItWaits",
		Theirs:    names{"pond.TestPoolWithQueueSize", "pond.TestPoolWithQueueSizeAndNonBlocking", "pond.TestPoolWithQueueSizeZero"},
		Behaviour: "A pool is made to let submitters wait or to refuse them, and tells which, and how long its queue is.",
		Different: "Both are calls of every pool, so that one caller can wait where another must not; a pool does not tell back how it was made.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(1))
			gate := make(chan struct{})
			ok(t, p.Submit(func() { <-gate }))
			ok(t, p.Submit(func() {}))
			ran := false
			waits := begin(func() { ok(t, p.Submit(func() { ran = true })) })
			synctest.Wait()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrFull)
			equal(t, "the one that waits is let go", over(waits), false)
			close(gate)
			<-waits
			p.Close()
			equal(t, "its task ran", ran, true)
		},
	},
	{
		Name: "ZeroIsAMistakeToo",
		Theirs: names{"pond.TestPoolResizeWithZeroMaxConcurrency", "pond.TestPoolSubmitWhileStoppingHasNoRace", "pond.TestSubpoolMaxConcurrency",
			"pond.TestResultSubpoolMaxConcurrency"},
		Behaviour: "A limit of 0 stands for none, and for a part of a pool for that of the pool.",
		Different: "It panics, since zero is what a forgotten setting looks like; Unbounded says that no limit is meant, and a group without Limit has only that of its pool.",
		Run: func(t *testing.T) {
			mistake := "weir: limit must be at least 1, got 0"
			p := weir.New(10)
			equal[any](t, "panic of New", caught(func() { weir.New(0) }), mistake)
			equal[any](t, "panic of Resize", caught(func() { p.Resize(0) }), mistake)
			equal[any](t, "panic of Limit", caught(func() { p.Group(t.Context(), weir.Limit(0)) }), mistake)

			g := p.Group(t.Context())
			gate := make(chan struct{})
			for range 12 {
				g.Go(pondPlain(func() { <-gate }))
			}
			synctest.Wait()
			equal(t, "tasks of a group without a limit of its own", p.Stats().Running, 10)
			p.Resize(weir.Unbounded)
			synctest.Wait()
			equal(t, "the same when the pool has none", p.Stats().Running, 12)
			equal(t, "limit", p.Stats().Limit, weir.Unbounded)
			close(gate)
			ok(t, g.Wait())
			p.Close()
		},
	},
	{
		Name:      "WhetherAPoolHasStoppedIsSaidByTheRefusal",
		Theirs:    names{"pond.TestPoolSubmitOnStoppedPool", "pond.TestPoolSubmitWhileStopping", "pond.TestPoolStoppedAfterCancel"},
		Behaviour: "A pool can be asked whether it has been stopped.",
		Different: "It cannot, since the answer could be wrong when it is used; submitting tells, and a group that was refused returns the same ErrClosed from Wait.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ok(t, p.TrySubmit(func() {}))
			g := p.Group(t.Context())
			p.Close()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrClosed)
			g.Go(pondPlain(func() { t.Error("a refused task ran") }))
			isError(t, g.Wait(), weir.ErrClosed)
		},
	},
	{
		Name:      "CancelledTasksAreCountedApart",
		Theirs:    names{"pond.TestTaskGroupMetricsWithCancelledContext"},
		Behaviour: "Tasks of a group that was cancelled before they started are counted, and not among those that completed.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g := p.Group(ctx)
			gate := make(chan struct{})
			for i := range 10 {
				g.Go(pondPlain(func() {
					<-gate
					if i == 4 {
						cancel()
					}
				}))
			}
			close(gate)
			isError(t, g.Wait(), context.Canceled)
			p.Close()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Accepted: 10, Finished: 5, HandedBack: 5})
		},
	},
	{
		Name: "RefusedTasksAreCountedApart",
		Theirs: names{"pond.TestPoolWithQueueSizeZero", "pond.TestPoolTrySubmit", "pond.TestPoolTrySubmitErr", "pond.TestResultPoolTrySubmit",
			"pond.TestResultPoolTrySubmitErr", "pond.TestSubpoolWithQueueSizeOverride"},
		Behaviour: "A task that is refused since the pool is full counts as submitted and as dropped; one that comes after the end does not count.",
		Different: "Both count as rejected, and only what was accepted counts as that, so that the accepted are always those that have finished, wait, run, or were handed back.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(1))
			gate := make(chan struct{})
			ok(t, p.TrySubmit(func() { <-gate }))
			synctest.Wait()
			ok(t, p.TrySubmit(func() {}))
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrFull)
			stats := p.Stats()
			equal(t, "rejected", stats.Rejected, 1)
			equal(t, "accepted", stats.Accepted, 2)
			equal(t, "the accepted, where they are", stats.Finished+stats.HandedBack+uint64(stats.Queued+stats.Running), 2)
			close(gate)
			p.Close()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrClosed)
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Accepted: 2, Finished: 2, Rejected: 2})
		},
	},
	{
		Name:      "FailuresAreCountedWhereTheyArrive",
		Theirs:    names{"pond.TestPoolMetrics", "pond.TestResultPoolMetrics", "pond.TestTaskGroupMetrics", "pond.TestSubpoolMetrics"},
		Behaviour: "A pool, and each part of it, counts the tasks that succeeded and those that failed.",
		Different: "A pool counts tasks and panics, of all its groups together; an error belongs to the caller that asked for it, and comes out of Wait or Get, from a group with KeepGoing one for each task that failed, in their order.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			part := p.Group(t.Context(), weir.Limit(5), weir.KeepGoing())
			rest := p.Group(t.Context(), weir.KeepGoing())
			task := func(fails bool) func(context.Context) error {
				return func(context.Context) error {
					if fails {
						return errBoom
					}
					return nil
				}
			}
			for i := range 20 {
				if i%2 == 0 {
					part.Go(task(i%4 == 0))
				} else {
					rest.Go(task(i%3 == 0))
				}
			}
			failed := func(err error) (tasks []int) {
				for failure := range weir.Failures(err) {
					tasks = append(tasks, failure.Index)
				}
				return tasks
			}
			pondValues(t, failed(part.Wait()), 0, 2, 4, 6, 8)
			pondValues(t, failed(rest.Wait()), 1, 4, 7)
			p.Close()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 10, Accepted: 20, Finished: 20})
		},
	},
}
