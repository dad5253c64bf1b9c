package peers_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// concResults answers the three result pools of conc by Results of a Group.
var concResults = []peers.Case{
	{
		Name:      "ResultsOfAllTasks",
		Theirs:    []string{"pool.TestResultGroup/basic", "pool.ExampleResultPool"},
		Behaviour: "Wait returns what each task has returned; here in the order of the tasks, there in none.",
		Run: func(t *testing.T) {
			r := weir.NewResults[int](weir.NewGroup(t.Context(), weir.Unbounded))
			var want []int
			for i := range 100 {
				want = append(want, i)
				r.Go(func(context.Context) (int, error) {
					time.Sleep(time.Duration(100-i) * time.Second)
					return i, nil
				})
			}
			found, err := r.Wait()
			ok(t, err)
			equalSlices(t, found, want)
		},
	},
	{
		Name: "ResultsKeepTheMaximum",
		Theirs: []string{
			"pool.TestResultGroup/limit",
			"pool.TestResultErrorGroup/limit",
			"pool.TestResultContextPool/limit",
		},
		Behaviour: "Tasks with results keep a maximum as others do, and no result is lost.",
		Run: func(t *testing.T) {
			for _, limit := range []int{1, 10, 100} {
				r := weir.NewResults[int](weir.NewGroup(t.Context(), limit, weir.Queue(0)))
				var running gauge.Gauge
				var want []int
				for i := range 10 * limit {
					want = append(want, i)
					r.Go(func(context.Context) (int, error) {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Millisecond)
						return i, nil
					})
				}
				found, err := r.Wait()
				ok(t, err)
				equalSlices(t, found, want)
				equal(t, "ran at most", running.Peak.Load(), int64(limit))
				equal(t, "run at the end", running.Now.Load(), 0)
			}
		},
	},
	{
		Name: "ResultsWithoutAnError",
		Theirs: []string{
			"pool.TestResultErrorGroup/wait returns no error if no errors",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait returns no error if no errors",
		},
		Behaviour: "A task that may fail and does not gives its result, and no error.",
		Run: func(t *testing.T) {
			found, err := resultsOf(t, nil, result(1, nil))
			ok(t, err)
			equalSlices(t, found, []int{1})
		},
	},
	{
		Name: "ResultsAndAllErrors",
		Theirs: []string{
			"pool.TestResultErrorGroup/wait error if func returns error",
			"pool.TestResultErrorGroup/wait error is all returned errors",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error if func returns error",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error is all returned errors",
		},
		Behaviour: "When an error cancels nothing, here with KeepGoing, Wait returns all errors and the results.",
		Run: func(t *testing.T) {
			opts := []weir.Option{weir.KeepGoing()}
			_, err := resultsOf(t, opts, result(0, errBoom))
			isError(t, err, errBoom)
			found, err := resultsOf(t, opts, result(0, errBoom), result(7, nil), result(0, errLate))
			isError(t, err, errBoom)
			isError(t, err, errLate)
			equal(t, "result of the one that succeeded", found[1], 7)
		},
	},
	{
		Name: "ResultsOfTasksThatFailed",
		Theirs: []string{
			"pool.TestResultErrorGroup/wait error if func returns error",
			"pool.TestResultErrorGroup/wait error is all returned errors",
			"pool.TestResultErrorGroup/WithFirstError",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error if func returns error",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error is all returned errors",
			"pool.TestResultContextPool/context cancel propagates",
			"pool.TestResultContextPool/WithCancelOnError",
			"pool.TestResultContextPool/WithFirstError",
		},
		Behaviour: "Results of tasks that failed are left out, so that the slice is shorter than the number of tasks.",
		Different: "Each task has its place, so that the n-th result is that of the n-th task, also together with an error.",
		Run: func(t *testing.T) {
			found, err := resultsOf(t, []weir.Option{weir.KeepGoing()}, result(0, errBoom), result(7, nil), result(0, errLate))
			isError(t, err, errBoom)
			equalSlices(t, found, []int{0, 7, 0})
			found, err = resultsOf(t, nil, result(0, errBoom), result(0, errLate))
			isError(t, err, errBoom)
			equalSlices(t, found, []int{0, 0})
		},
	},
	{
		Name:      "ResultsThatCameWithAnError",
		Theirs:    []string{"pool.TestResultErrorGroup/WithCollectErrored", "pool.TestResultContextPool/WithCollectErrored"},
		Behaviour: "What a task has returned together with its error can be had; here it is always there.",
		Run: func(t *testing.T) {
			found, err := resultsOf(t, nil, result(7, errBoom))
			isError(t, err, errBoom)
			equalSlices(t, found, []int{7})
		},
	},
	{
		Name:      "ResultsOnlyTheFirstError",
		Theirs:    []string{"pool.TestResultErrorGroup/WithFirstError", "pool.TestResultContextPool/WithFirstError"},
		Behaviour: "Where only the first error is wanted, the one of the task that ended first is returned, whichever was given first.",
		Run: func(t *testing.T) {
			sooner := func(context.Context) (int, error) { time.Sleep(time.Second); return 0, errBoom }
			later := func(context.Context) (int, error) { time.Sleep(time.Minute); return 0, errLate }
			for _, tasks := range [][]task{{later, sooner}, {sooner, later}} {
				_, err := resultsOf(t, nil, tasks...)
				isError(t, err, errBoom)
				if errors.Is(err, errLate) {
					t.Errorf("Wait returned %v", err)
				}
			}
		},
	},
	{
		Name:      "ResultsCancelledFromOutside",
		Theirs:    []string{"pool.TestResultContextPool/context cancel propagates"},
		Behaviour: "Tasks with results get a context that ends with the caller's, and Wait says that it was cancelled.",
		Run: func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := weir.NewResults[int](weir.NewGroup(ctx, 2))
			r.Go(func(ctx context.Context) (int, error) { return 0, untilCancelled(ctx) })
			synctest.Wait() // until it runs
			cancel()
			_, err := r.Wait()
			isError(t, err, context.Canceled)
		},
	},
	{
		Name:      "ResultsCancelledByAnError",
		Theirs:    []string{"pool.TestResultContextPool/WithCancelOnError"},
		Behaviour: "Where an error is to cancel, it ends the context of the other tasks with results, and Wait returns it.",
		Run: func(t *testing.T) {
			stopped := func(ctx context.Context) (int, error) { return 0, untilCancelled(ctx) }
			_, err := resultsOf(t, nil, stopped, result(0, errBoom))
			isError(t, err, errBoom)
		},
	},
	{
		Name:      "ResultsErrorsOfCancelledTasks",
		Theirs:    []string{"pool.TestResultContextPool/WithCancelOnError"},
		Behaviour: "Besides the error that has cancelled the others, Wait also returns theirs, which say that they were cancelled.",
		Different: "As without results: only the first error is the cause, and Wait returns that.",
		Run: func(t *testing.T) {
			stopped := func(ctx context.Context) (int, error) { return 0, untilCancelled(ctx) }
			_, err := resultsOf(t, nil, stopped, result(0, errBoom))
			if errors.Is(err, context.Canceled) {
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "ResultsCancelledByAPanic",
		Theirs:    []string{"pool.TestResultContextPool/WithCancelOnError and panic"},
		Behaviour: "Where an error is to cancel, a panic cancels the other tasks with results, too, and Wait panics when they have ended.",
		Run: func(t *testing.T) {
			r := weir.NewResults[int](weir.NewGroup(t.Context(), 3))
			var cancelled atomic.Int64
			for range 2 {
				r.Go(func(ctx context.Context) (int, error) {
					defer cancelled.Add(1)
					return 0, untilCancelled(ctx)
				})
			}
			synctest.Wait() // until both run
			r.Go(func(context.Context) (int, error) { panic("abort") })
			equal(t, "value", panicOf(t, func() { _, _ = r.Wait() }).Value, any("abort"))
			equal(t, "others that ended", cancelled.Load(), 2)
		},
	},
	{
		Name:      "ResultsNotCancelledByAnError",
		Theirs:    []string{"pool.TestResultContextPool/no WithCancelOnError"},
		Behaviour: "Where an error is not to cancel, here with KeepGoing, the other tasks give their results, and none says that it was cancelled.",
		Run: func(t *testing.T) {
			slow := func(ctx context.Context) (int, error) { return 7, sleep(ctx, time.Second) }
			found, err := resultsOf(t, []weir.Option{weir.KeepGoing()}, slow, result(0, errBoom))
			isError(t, err, errBoom)
			if errors.Is(err, context.Canceled) {
				t.Errorf("Wait returned %v", err)
			}
			equal(t, "result of the one that went on", found[0], 7)
		},
	},
}

// task is one with a result.
type task = func(context.Context) (int, error)

// result is a task that returns this.
func result(value int, err error) task {
	return func(context.Context) (int, error) { return value, err }
}

// resultsOf has the tasks run, all at once, and returns what Wait does. Each has begun, and
// sleeps, waits or has ended, before the next one is given.
func resultsOf(t *testing.T, opts []weir.Option, tasks ...task) ([]int, error) {
	t.Helper()
	r := weir.NewResults[int](weir.NewGroup(t.Context(), weir.Unbounded, opts...))
	for _, task := range tasks {
		r.Go(task)
		synctest.Wait()
	}
	return r.Wait()
}

// equalSlices fails the test unless both have the same elements in the same order.
func equalSlices[T comparable](t *testing.T, got, want []T) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("got %v, want %v", got, want)
	}
}
