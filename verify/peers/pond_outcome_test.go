package peers_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondOutcomeCases are about what a caller learns of a single task.
var pondOutcomeCases = []peers.Case{
	{
		Name: "WhatRunsToItsEndCounts",
		Theirs: names{"pond.TestPoolStoppedAfterCancel", "pond.TestResultPoolSubmitContextCanceled",
			"pond.TestPoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
			"pond.TestSubpoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks", "future.TestFutureWaitWithCanceledContext",
			"future.TestValueFutureWaitWithCanceledContext"},
		Behaviour: "A task that runs while its context ends is reported as cancelled, and what it returns is lost.",
		Different: "What it returns counts, be it a value or an error: it has run, and a caller that waits for it must know what it did.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			given := make(chan struct{})
			before := weir.Async(ctx, p, func(context.Context) (int, error) { return 111, nil })
			during := weir.Async(ctx, p, func(context.Context) (int, error) {
				<-given
				cancel()
				return 222, errBoom
			})
			after := weir.Async(ctx, p, func(context.Context) (int, error) {
				t.Error("a cancelled task ran")
				return 333, nil
			})
			close(given)
			pondGives(t, before, 111, nil)
			pondGives(t, during, 222, errBoom)
			pondGives(t, after, 0, context.Canceled)
			p.Close()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Accepted: 3, Finished: 2, HandedBack: 1})
		},
	},
	{
		Name:      "AnExitedGoroutineIsCalledThat",
		Theirs:    names{"pond.TestTaskInvokesGoexitAndPoolRecovers"},
		Behaviour: "A caller that waits for a task that ended its goroutine gets the error that the pool was stopped.",
		Different: "The error is ErrGoexit, which says what happened; the pool may well be open.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			exited := weir.Async(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
			pondGives(t, exited, 0, weir.ErrGoexit)
			ok(t, p.Submit(func() {}))
			p.Close()
		},
	},
	{
		Name:      "ATaskMayFailWithAContextOfItsOwn",
		Theirs:    names{"pond.TestTaskGroupWithContextCanceled"},
		Behaviour: "The error of a context that a task watches on its own account comes out like any other.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			g := p.Group(t.Context())
			own, cancel := context.WithCancel(t.Context())
			g.Go(func(context.Context) error { <-own.Done(); return own.Err() })
			cancel()
			err := g.Wait()
			isError(t, err, context.Canceled)
			failed, isTask := errors.AsType[*weir.TaskError](err)
			equal(t, "it is the error of the first task", isTask && failed.Index == 0, true)
			p.Close()
		},
	},
	{
		Name:      "AContextEndsWhatWasGivenUnderIt",
		Theirs:    names{"pond.TestPoolStoppedAfterCancel", "pond.TestSubpoolStoppedAfterCancel", "pond.TestPoolWithContextCanceled"},
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
			others := weir.Async(t.Context(), p, func(context.Context) (int, error) { return 2, nil })
			pondGives(t, others, 2, nil)

			end, stop := context.WithCancel(t.Context())
			context.AfterFunc(end, p.Close)
			stop()
			synctest.Wait()
			isError(t, p.Submit(never), weir.ErrClosed)
		},
	},
}
