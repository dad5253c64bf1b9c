package peers_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondContextCases are about contexts that end.
var pondContextCases = []peers.Case{
	{
		Name:      "QueuedTasksOfACancelledContextNeverStart",
		Theirs:    []string{"pond.TestPoolWithContextCanceled"},
		Behaviour: "When the context ends, queued tasks never start, those that run go on to their end, and then no worker is left.",
		Run: func(t *testing.T) {
			const tasks = 1000
			p := pondPool(10)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			var began, ended atomic.Int64
			for range tasks {
				g.Go(pondPlain(func() {
					began.Add(1)
					time.Sleep(time.Millisecond)
					ended.Add(1)
				}))
			}
			equal(t, "tasks accepted", p.Stats().Accepted, tasks)
			time.Sleep(5500 * time.Microsecond)
			equal(t, "tasks that run", p.Stats().Running, 10)
			cancel()
			isError(t, g.Wait(), context.Canceled)
			equal(t, "tasks that began", began.Load(), 60)
			equal(t, "tasks that ended", ended.Load(), 60)
			p.Close()
			want := weir.Stats{Limit: 10, Accepted: tasks, Finished: 60, HandedBack: tasks - 60}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name: "CancelledTasksInTheQueueHoldNobodyUp",
		Theirs: []string{
			"pond.TestPoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
			"pond.TestTaskGroupWaitShouldNotDeadlockWhenPoolContextCanceledWithQueuedTasks",
		},
		Behaviour: "With one task that runs and one in the queue when the context ends, waiting for both ends when the first does, as does the end of the pool, and each is counted for what it is.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			gate := make(chan struct{})
			g.Go(pondPlain(func() { <-gate }))
			g.Go(pondPlain(func() { t.Error("a cancelled task ran") }))
			synctest.Wait()
			cancel()
			waited := begin(func() { isError(t, g.Wait(), context.Canceled) })
			synctest.Wait()
			equal(t, "the wait is over before the task is", over(waited), false)
			close(gate)
			<-waited
			p.Close()
			want := weir.Stats{Limit: 1, Accepted: 2, Finished: 1, HandedBack: 1}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name:      "CancelledTasksThatWaitForALimitHoldNobodyUp",
		Theirs:    []string{"pond.TestSubpoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks"},
		Behaviour: "A part of the pool with a limit of its own holds no caller up either, when its context ends while one task runs and another waits for that limit.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx, weir.Limit(1))
			gate := make(chan struct{})
			g.Go(pondPlain(func() { <-gate }))
			second := begin(func() { g.Go(pondPlain(func() { t.Error("a cancelled task ran") })) })
			synctest.Wait()
			equal(t, "the second task is accepted", over(second), false)
			cancel()
			<-second
			waited := begin(func() { isError(t, g.Wait(), context.Canceled) })
			close(gate)
			<-waited
			p.Close()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Accepted: 1, Finished: 1})
		},
	},
	{
		Name: "AContextEndsWhatWasGivenUnderIt",
		Theirs: []string{
			"pond.TestPoolStoppedAfterCancel",
			"pond.TestSubpoolStoppedAfterCancel",
			"pond.TestPoolWithContextCanceled",
		},
		Behaviour: "A pool is made with a context, and stopped, with all its parts, when that ends.",
		Different: "A pool has no context, since callers with contexts of their own share it: the end of one ends what was given under it, and the pool goes on; to stop it as well takes context.AfterFunc.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			ctx, cancel := context.WithCancel(t.Context())
			part := p.Group(ctx, weir.Limit(5))
			during := weir.Async(ctx, p, func(context.Context) (int, error) { cancel(); return 1, nil })
			pondGives(t, during, 1, nil)

			never := func() { t.Error("a cancelled task ran") }
			isError(t, p.SubmitContext(ctx, never), context.Canceled)
			pondGives(t, weir.Async(ctx, p, func(context.Context) (int, error) { never(); return 1, nil }), 0, context.Canceled)
			part.Go(pondPlain(never))
			isError(t, part.Wait(), context.Canceled)
			others := 0
			ok(t, p.Submit(func() { others++ }))
			p.Wait()
			equal(t, "tasks of others", others, 1)

			end, stop := context.WithCancel(t.Context())
			context.AfterFunc(end, p.Close)
			stop()
			synctest.Wait()
			pondRefuses(t, p)
		},
	},
}
