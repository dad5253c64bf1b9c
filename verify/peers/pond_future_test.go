package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondFutureCases are about the outcome of a single task.
var pondFutureCases = []peers.Case{
	{
		Name: "AFutureHasTheValueOfItsTask",
		Theirs: []string{
			"pond.TestPoolSubmitAndWait",
			"pond.TestResultPoolSubmitAndWait",
			"pond.TestResultBackwardCompatibility",
			"future.TestFutureWait",
			"future.TestValueFutureWait",
		},
		Behaviour: "A caller that waits for a task gets what it returned and no error, before or after it has ended, and as often as wanted.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			gate := make(chan struct{})
			ran := make(chan int, 1)
			f := pondAsync(t, p, func() (string, error) {
				<-gate
				ran <- 10
				return "output", nil
			})
			waited := begin(func() { pondGives(t, f, "output", nil) })
			synctest.Wait()
			equal(t, "the wait is over", over(waited), false)
			close(gate)
			<-waited
			equal(t, "what the task has done", <-ran, 10)
			pondGives(t, f, "output", nil)
			p.Close()
			pondGives(t, f, "output", nil)
		},
	},
	{
		Name:      "AFutureCanBePassedOn",
		Theirs:    []string{"pond.TestResultInterfaceCompatibility", "pond.TestResultBackwardCompatibility"},
		Behaviour: "A function that only waits for a value can be given the result of any task, by an interface.",
		Run: func(t *testing.T) {
			double := func(later interface {
				Get(ctx context.Context) (int, error)
			},
			) int {
				n, err := later.Get(t.Context())
				ok(t, err)
				return 2 * n
			}
			p := pondPool(1)
			f := pondAsync(t, p, func() (int, error) { return 21, nil })
			equal(t, "what the function made of it", double(f), 42)
			p.Close()
		},
	},
	{
		Name: "AFutureHasTheErrorOfItsTask",
		Theirs: []string{
			"pond.TestPoolSubmitWithErr",
			"future.TestFutureWaitWithError",
			"future.TestValueFutureWaitWithError",
		},
		Behaviour: "A caller that waits for a task gets the very error that it returned.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			f := pondAsync(t, p, func() (int, error) { return 0, errBoom })
			value, err := f.Get(t.Context())
			equal(t, "value", value, 0)
			equal(t, "error", err, errBoom)
			p.Close()
		},
	},
	{
		Name:      "DoneTellsThatAFutureHasResolved",
		Theirs:    []string{"future.TestFutureDone", "future.TestValueFutureDone"},
		Behaviour: "A channel is closed when the task has ended, not before, and its value and error are there then.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			good := pondAsync(t, p, func() (int, error) { time.Sleep(time.Millisecond); return 10, nil })
			bad := pondAsync(t, p, func() (int, error) { time.Sleep(time.Millisecond); return 0, errBoom })
			synctest.Wait()
			equal(t, "the first has resolved", over(good.Done()), false)
			equal(t, "the second has resolved", over(bad.Done()), false)
			start := time.Now()
			<-good.Done()
			<-bad.Done()
			equal(t, "time", time.Since(start), time.Millisecond)
			pondGives(t, good, 10, nil)
			pondGives(t, bad, 0, errBoom)
			p.Close()
		},
	},
	{
		Name: "AFutureOfACancelledTaskHasTheCause",
		Theirs: []string{
			"future.TestFutureWaitWithCanceledContext",
			"future.TestValueFutureWaitWithCanceledContext",
			"pond.TestResultPoolSubmitContextCanceled",
			"pond.TestPoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
		},
		Behaviour: "If the context ends before the task starts, the task never does; a caller that waits for it gets that error, no value, and does not wait for the tasks in front of it.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			gate := make(chan struct{})
			ok(t, p.Submit(func() { <-gate }))
			ctx, cancel := context.WithCancel(t.Context())
			f := weir.Async(ctx, p, func(context.Context) (int, error) {
				t.Error("a cancelled task ran")
				return 333, errBoom
			})
			synctest.Wait()
			equal(t, "it has resolved", over(f.Done()), false)
			cancel()
			synctest.Wait()
			equal(t, "it has resolved", over(f.Done()), true)
			pondGives(t, f, 0, context.Canceled)
			close(gate)
			p.Close()
			want := weir.Stats{Limit: 1, Accepted: 2, Finished: 1, HandedBack: 1}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name: "WhatRunsToItsEndCounts",
		Theirs: []string{
			"pond.TestPoolStoppedAfterCancel",
			"pond.TestResultPoolSubmitContextCanceled",
			"pond.TestPoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
			"pond.TestSubpoolStopAndWaitShouldNotDeadlockWhenContextCanceledWithQueuedTasks",
			"future.TestFutureWaitWithCanceledContext",
			"future.TestValueFutureWaitWithCanceledContext",
		},
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
			want := weir.Stats{Limit: 1, Accepted: 3, Finished: 2, HandedBack: 1}
			equal(t, "counts", p.Stats(), want)
		},
	},
}
