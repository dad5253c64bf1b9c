package peers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondCountCases are about what a pool tells of its tasks.
var pondCountCases = []peers.Case{
	{
		Name:      "ThePoolCountsItsTasks",
		Theirs:    []string{"pond.TestPoolMetrics", "pond.TestResultPoolMetrics"},
		Behaviour: "All counts of a new pool are 0; at the end as many tasks have completed as were submitted, and none runs, waits or was refused.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			equal(t, "counts of a new pool", p.Stats(), weir.Stats{Limit: 100})
			var futures []*weir.Future[int]
			for i := range 1000 {
				futures = append(futures, pondAsync(t, p, func() (int, error) {
					if i%2 == 0 {
						return i, nil
					}
					return 0, errBoom
				}))
			}
			p.Close()
			for i, f := range futures {
				if i%2 == 0 {
					pondGives(t, f, i, nil)
				} else {
					pondGives(t, f, 0, errBoom)
				}
			}
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 100, Accepted: 1000, Finished: 1000})
		},
	},
	{
		Name:      "RunningAndQueuedAreToldApart",
		Theirs:    []string{"pond.TestTaskGroupWaitingTasks"},
		Behaviour: "Of twenty tasks given to a pool of ten, ten count as running and ten as queued.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			g := p.Group(t.Context())
			gate := make(chan struct{})
			for range 20 {
				g.Go(pondPlain(func() { <-gate }))
			}
			synctest.Wait()
			equal(t, "tasks that run", p.Stats().Running, 10)
			equal(t, "tasks queued", p.Stats().Queued, 10)
			close(gate)
			ok(t, g.Wait())
			p.Close()
		},
	},
	{
		Name:      "CancelledTasksAreCountedApart",
		Theirs:    []string{"pond.TestTaskGroupMetricsWithCancelledContext"},
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
			want := weir.Stats{Limit: 1, Accepted: 10, Finished: 5, HandedBack: 5}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name: "RefusedTasksAreCountedApart",
		Theirs: []string{
			"pond.TestPoolWithQueueSizeZero",
			"pond.TestPoolTrySubmit",
			"pond.TestPoolTrySubmitErr",
			"pond.TestResultPoolTrySubmit",
			"pond.TestResultPoolTrySubmitErr",
			"pond.TestSubpoolWithQueueSizeOverride",
		},
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
			want := weir.Stats{Limit: 1, Accepted: 2, Finished: 2, Rejected: 2}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name: "FailuresAreCountedWhereTheyArrive",
		Theirs: []string{
			"pond.TestPoolMetrics",
			"pond.TestResultPoolMetrics",
			"pond.TestTaskGroupMetrics",
			"pond.TestSubpoolMetrics",
		},
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
			equal(t, "failures of the part", pondFailures(t, part.Wait()), 5)
			equal(t, "failures of the rest", pondFailures(t, rest.Wait()), 3)
			p.Close()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 10, Accepted: 20, Finished: 20})
		},
	},
}

// pondFailures returns how many errors of tasks a group's error joins, which must be in the
// order of the tasks.
func pondFailures(t *testing.T, err error) int {
	t.Helper()
	joined, isJoined := err.(interface{ Unwrap() []error })
	if !isJoined {
		t.Fatalf("the error joins nothing: %v", err)
	}
	last := -1
	for _, err := range joined.Unwrap() {
		failed, isTask := errors.AsType[*weir.TaskError](err)
		if !isTask || failed.Index <= last {
			t.Fatalf("not the error of a task behind task %d: %v", last, err)
		}
		last = failed.Index
	}
	return len(joined.Unwrap())
}
