package peers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// concErrors answers conc's ErrorPool and ContextPool. A Group is both, and cancels with the
// first error unless it has KeepGoing.
var concErrors = []peers.Case{
	{
		Name: "ErrorsNone",
		Theirs: []string{
			"pool.TestErrorPool/wait returns no error if no errors",
			"pool.TestContextPool/behaves the same as ErrorGroup/wait returns no error if no errors",
		},
		Behaviour: "Wait returns nil when no task has failed.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				g := weir.NewGroup(t.Context(), 2, opts...)
				g.Go(succeedTask)
				ok(t, g.Wait())
			}
		},
	},
	{
		Name: "ErrorsOne",
		Theirs: []string{
			"pool.TestErrorPool/wait error if func returns error",
			"pool.TestContextPool/behaves the same as ErrorGroup/wait errors if func returns error",
		},
		Behaviour: "The error of a task is found by errors.Is in what Wait returns.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				g := weir.NewGroup(t.Context(), 2, opts...)
				g.Go(failTask)
				isError(t, g.Wait(), errBoom)
			}
		},
	},
	{
		Name: "ErrorsAll",
		Theirs: []string{
			"pool.TestErrorPool/wait error is all returned errors",
			"pool.TestContextPool/behaves the same as ErrorGroup/wait error is all returned errors",
		},
		Behaviour: "When an error cancels nothing Wait returns all of them; here, with KeepGoing, in the order of the tasks.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 3, weir.KeepGoing())
			g.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom })
			g.Go(succeedTask)
			g.Go(func(context.Context) error { return errLate })
			err := g.Wait()
			isError(t, err, errBoom)
			isError(t, err, errLate)
			equal(t, "text", err.Error(), "task 0: boom\ntask 2: late")
		},
	},
	{
		Name:      "ErrorsInWords",
		Theirs:    []string{"pool.ExampleErrorPool", "pool.ExampleContextPool_WithCancelOnError"},
		Behaviour: "The text of a single error is that of the task's own error.",
		Different: "The number of the task stands before it, since an error should say where it comes from.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				g := weir.NewGroup(t.Context(), 2, opts...)
				g.Go(succeedTask)
				g.Go(failTask)
				equal(t, "text", g.Wait().Error(), "task 1: boom")
			}
		},
	},
	{
		Name:      "ContextCancelledFromOutside",
		Theirs:    []string{"pool.TestContextPool/context error propagates/canceled", "pool.TestResultContextPool/context cancel propagates"},
		Behaviour: "Tasks get a context that ends with the caller's, and Wait says that it was cancelled.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				ctx, cancel := context.WithCancel(t.Context())
				g := weir.NewGroup(ctx, 2, opts...)
				g.Go(untilCancelled)
				synctest.Wait() // until it runs
				cancel()
				isError(t, g.Wait(), context.Canceled)
			}
		},
	},
	{
		Name:      "ContextTimedOut",
		Theirs:    []string{"pool.TestContextPool/context error propagates/timed out"},
		Behaviour: "Tasks get a context with the caller's deadline, and Wait says that it has passed.",
		Run: func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			g := weir.NewGroup(ctx, 2)
			g.Go(untilCancelled)
			isError(t, g.Wait(), context.DeadlineExceeded)
			equal(t, "time until then", time.Since(begun), time.Minute)
		},
	},
	{
		Name:      "AnErrorCancelsTheOthers",
		Theirs:    []string{"pool.ExampleContextPool_WithCancelOnError", "pool.TestContextPool/WithCancelOnError"},
		Behaviour: "Where an error is to cancel, it ends the context of the other tasks, and Wait returns it when they have ended.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 4)
			var ended atomic.Int64
			for range 2 {
				g.Go(func(ctx context.Context) error {
					<-ctx.Done()
					ended.Add(1)
					return nil
				})
			}
			synctest.Wait() // until both run
			g.Go(failTask)
			isError(t, g.Wait(), errBoom)
			equal(t, "others that ended", ended.Load(), 2)
		},
	},
	{
		Name:      "ErrorsOfCancelledTasks",
		Theirs:    []string{"pool.TestContextPool/WithCancelOnError"},
		Behaviour: "Besides the error that has cancelled the others, Wait also returns theirs, which say that they were cancelled.",
		Different: "Only the first error is the cause, and Wait returns that; that others were cancelled follows from it, and would make errors.Is(err, context.Canceled) true for every failure.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 4)
			g.Go(untilCancelled)
			synctest.Wait() // until it runs
			g.Go(failTask)
			err := g.Wait()
			isError(t, err, errBoom)
			if errors.Is(err, context.Canceled) {
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "AnErrorCancelsNobody",
		Theirs:    []string{"pool.TestContextPool/no WithCancelOnError"},
		Behaviour: "Where an error is not to cancel, here with KeepGoing, the others run to their end, and no error says that they were cancelled.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 4, weir.KeepGoing())
			g.Go(func(ctx context.Context) error { return sleep(ctx, time.Second) })
			g.Go(failTask)
			begun := time.Now()
			err := g.Wait()
			equal(t, "time until the end", time.Since(begun), time.Second)
			isError(t, err, errBoom)
			if errors.Is(err, context.Canceled) {
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "OnlyTheFirstErrorIsReturned",
		Theirs:    []string{"pool.TestContextPool/WithFirstError"},
		Behaviour: "Where only the first error is wanted, Wait does not return one that comes later.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			g.Go(func(context.Context) error { time.Sleep(time.Second); return errLate })
			g.Go(failTask)
			err := g.Wait()
			isError(t, err, errBoom)
			if errors.Is(err, errLate) {
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "TheFirstErrorWhileTheOthersGoOn",
		Theirs:    []string{"pool.TestContextPool/WithFirstError"},
		Behaviour: "Only the first error can be wanted without a cancellation: the others go on, and what they return is dropped.",
		Different: "A Group either ends with the first error, or, with KeepGoing, tells all errors: when nothing is cancelled each is as good as the others, and each says whose it is.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
			g.Go(func(ctx context.Context) error { ok(t, sleep(ctx, time.Second)); return errLate })
			g.Go(failTask)
			err := g.Wait()
			isError(t, err, errBoom)
			isError(t, err, errLate)
		},
	},
	{
		Name:      "TheFirstErrorHidesTheCancellation",
		Theirs:    []string{"pool.TestContextPool/WithFirstError and WithCancelOnError"},
		Behaviour: "Where the first error is wanted and cancels, Wait returns it and not that the others were cancelled; here it is the default.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			g.Go(failTask)
			g.Go(untilCancelled)
			err := g.Wait()
			isError(t, err, errBoom)
			if errors.Is(err, context.Canceled) {
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "APanicCancelsTheOthers",
		Theirs:    []string{"pool.TestContextPool/WithCancelOnError and panic"},
		Behaviour: "Where an error is to cancel, a panic cancels, too, and Wait panics when the others have ended; here a panic does so even with KeepGoing.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				g := weir.NewGroup(t.Context(), weir.Unbounded, opts...)
				var cancelled atomic.Int64
				for range 2 {
					g.Go(func(ctx context.Context) error {
						defer cancelled.Add(1)
						return untilCancelled(ctx)
					})
				}
				synctest.Wait() // until both run
				g.Go(explodeTask)
				_ = panicOf(t, func() { _ = g.Wait() })
				equal(t, "others that ended", cancelled.Load(), 2)
			}
		},
	},
}

// untilCancelled is a task that fails when it is cancelled, and ends in no other way.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// sleep sleeps, and returns an error if ctx is done before the end of that.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
