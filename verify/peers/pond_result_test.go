package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondResultCases are about the values of tasks that are waited for together.
var pondResultCases = []peers.Case{
	{
		Name: "ValuesComeInTheOrderOfTheTasks",
		Theirs: []string{
			"pond.TestResultTaskGroupWait",
			"future.TestCompositeFutureWait",
			"future.TestCompositeFutureWaitBeforeResoluion",
		},
		Behaviour: "Waiting for tasks gives one value for each, in the order in which they were submitted, whichever ends first, and whether they ended before or after the wait began.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			r := weir.NewResults[int](p.Group(t.Context()))
			for i := range 5 {
				r.Go(func(context.Context) (int, error) {
					time.Sleep(time.Duration(4-i) * time.Millisecond)
					return i, nil
				})
			}
			time.Sleep(2500 * time.Microsecond)
			values, err := r.Wait()
			ok(t, err)
			pondValues(t, values, 0, 1, 2, 3, 4)
			p.Close()
		},
	},
	{
		Name: "ValuesFromBeforeAnErrorAreKept",
		Theirs: []string{
			"pond.TestResultTaskGroupWaitWithError",
			"pond.TestResultTaskGroupWaitWithErrorInLastTask",
			"future.TestCompositeFutureWaitWithError",
		},
		Behaviour: "If a task fails, the caller that waits gets its error and the values of those before it; it and those that never ran have a zero value in their places.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			r := weir.NewResults[int](p.Group(t.Context()))
			for i := range 5 {
				r.Go(func(context.Context) (int, error) {
					if i == 3 {
						return 0, errBoom
					}
					return 10 + i, nil
				})
			}
			values, err := r.Wait()
			isError(t, err, errBoom)
			pondValues(t, values, 10, 11, 12, 0, 0)

			r.Go(func(context.Context) (int, error) { return 1, nil })
			time.Sleep(10 * time.Millisecond)
			r.Go(func(context.Context) (int, error) { return 0, errBoom })
			values, err = r.Wait()
			isError(t, err, errBoom)
			pondValues(t, values, 1, 0)
			p.Close()
		},
	},
	{
		Name:      "ValuesOfTasksThatRanBesideAnErrorAreKept",
		Theirs:    []string{"pond.TestResultTaskGroupWaitWithMultipleErrors"},
		Behaviour: "If several of the tasks that run at once fail, the caller that waits gets an error of theirs and the values of the others.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			r := weir.NewResults[int](p.Group(t.Context()))
			gate := make(chan struct{})
			for i := range 5 {
				r.Go(func(context.Context) (int, error) {
					<-gate
					if i%2 == 0 {
						time.Sleep(10 * time.Millisecond)
						return 0, errBoom
					}
					return i, nil
				})
			}
			synctest.Wait()
			close(gate)
			values, err := r.Wait()
			isError(t, err, errBoom)
			pondValues(t, values, 0, 1, 0, 3, 0)
			p.Close()
		},
	},
	{
		Name:      "AValueReturnedAfterTheContextEndedIsKept",
		Theirs:    []string{"pond.TestResultTaskGroupWaitWithContextCanceledAndOngoingTasks"},
		Behaviour: "If the context ends while a task runs, the caller that waits gets that error, and a zero value even for the task that went on and returned one.",
		Different: "The error is the same, and the value is there: what a task has made, perhaps something to be closed, is not thrown away.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			r := weir.NewResults[string](p.Group(ctx))
			r.Go(func(context.Context) (string, error) {
				cancel()
				time.Sleep(10 * time.Millisecond)
				return "output1", nil
			})
			r.Go(func(context.Context) (string, error) { return "output2", nil })
			values, err := r.Wait()
			isError(t, err, context.Canceled)
			pondValues(t, values, "output1", "")
			p.Close()
		},
	},
	{
		Name:      "NoTasksGiveNoValues",
		Theirs:    []string{"pond.TestTaskGroupWithNoTasks"},
		Behaviour: "Waiting for no tasks at all returns at once, without values and without an error, and may be repeated.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			r := weir.NewResults[int](p.Group(t.Context()))
			for range 2 {
				values, err := r.Wait()
				ok(t, err)
				pondValues(t, values)
			}
			p.Close()
		},
	},
}
