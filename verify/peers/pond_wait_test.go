package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondWaitCases are about waiting for a group more than once, or in other ways.
var pondWaitCases = []peers.Case{
	{
		Name:      "AValueReturnedAfterTheContextEndedIsKept",
		Theirs:    names{"pond.TestResultTaskGroupWaitWithContextCanceledAndOngoingTasks"},
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
		Name:      "AGroupBeginsAnewAfterWait",
		Theirs:    names{"future.TestCompositeFutureWithMultipleWait", "future.TestCompositeFutureWithMultipleDone"},
		Behaviour: "After a wait more tasks may be added, and the next wait gives the values of all since the beginning.",
		Different: "The next wait gives those of the tasks added since: a group that is used for ever would else keep all values for ever.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			r := weir.NewResults[string](p.Group(t.Context()))
			pondBatch(t, r, "output1")
			pondBatch(t, r, "output2", "output3")
			p.Close()
		},
	},
	{
		Name:      "AnErrorThatWasToldIsOver",
		Theirs:    names{"future.TestCompositeFutureWithErrorsAndMultipleWait", "future.TestCompositeFutureWithErrorsAndMultipleDone"},
		Behaviour: "After a wait that returned an error, what is added later is not done, and each later wait returns that error.",
		Different: "Once Wait has returned an error the group is as new, as it is after success: nothing of one batch is left to the next.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			r := weir.NewResults[string](p.Group(t.Context()))
			r.Go(func(context.Context) (string, error) { return "", errBoom })
			values, err := r.Wait()
			isError(t, err, errBoom)
			pondValues(t, values, "")
			pondBatch(t, r, "output2", "output3")
			p.Close()
		},
	},
	{
		Name:      "TheEndOfTheContextIsToldEvenAfterSuccess",
		Theirs:    names{"future.TestCompositeFutureWaitWithContextCanceledAfterResolution", "future.TestCompositeFutureCancel"},
		Behaviour: "If the context ends, or the group is stopped, when all tasks have succeeded, a wait that begins after that returns no error.",
		Different: "Wait returns the cause, and all values: which came first is a race that the caller cannot see, and code that cancels may rely on the error.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			r := weir.NewResults[string](g)
			tells := func(end func(), cause error) {
				r.Go(func(context.Context) (string, error) { return "output1", nil })
				p.Wait()
				end()
				values, err := r.Wait()
				equal(t, "error", err, cause)
				pondValues(t, values, "output1")
			}
			tells(func() { g.Cancel(errBoom) }, errBoom)
			tells(cancel, context.Canceled)
			p.Close()
		},
	},
	{
		Name: "TheContextTellsThatAGroupIsOver",
		Theirs: names{"pond.TestTaskGroupDone", "pond.TestTaskGroupWithCustomContext", "pond.TestTaskGroupStop", "pond.TestTaskGroupContext",
			"future.TestCompositeFutureWithMultipleDone", "future.TestCompositeFutureWithErrorsAndMultipleDone"},
		Behaviour: "A channel is closed when all tasks of a group have ended, or one has failed, even if no goroutine waits.",
		Different: "Each group must be waited for, or its errors would be lost; for all other code its context ends when Wait returns, or before at the first failure.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			g := p.Group(t.Context())
			ended := 0
			for n := range 2 {
				done := g.Context().Done()
				g.Go(pondPlain(func() {
					time.Sleep(time.Millisecond)
					ended++
				}))
				synctest.Wait()
				equal(t, "the group is over", over(done), false)
				waited := begin(func() { ok(t, g.Wait()) })
				<-done
				equal(t, "tasks that ended", ended, n+1)
				<-waited
			}

			done := g.Context().Done()
			gate := make(chan struct{})
			g.Go(pondPlain(func() { <-gate }))
			synctest.Wait()
			g.Go(func(context.Context) error { return errBoom })
			<-done
			synctest.Wait()
			equal(t, "tasks that still run", p.Stats().Running, 1)
			close(gate)
			isError(t, g.Wait(), errBoom)
			p.Close()
		},
	},
}

// pondBatch adds a task for each output, and fails the test unless the next wait gives these, and no others.
func pondBatch(t *testing.T, r *weir.Results[string], outputs ...string) {
	t.Helper()
	for _, output := range outputs {
		r.Go(func(context.Context) (string, error) { return output, nil })
	}
	values, err := r.Wait()
	ok(t, err)
	pondValues(t, values, outputs...)
}
