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

// pondWaitCases are about waiting for a group more than once, or in other ways.
var pondWaitCases = []peers.Case{
	{
		Name: "AGroupBeginsAnewAfterWait",
		Theirs: []string{
			"future.TestCompositeFutureWithMultipleWait",
			"future.TestCompositeFutureWithMultipleDone",
		},
		Behaviour: "After a wait more tasks may be added, and the next wait gives the values of all since the beginning.",
		Different: "The next wait gives those of the tasks added since: a group that is used for ever would else keep all values for ever.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			r := weir.NewResults[string](p.Group(t.Context()))
			add := func(output string) {
				r.Go(func(context.Context) (string, error) { return output, nil })
			}
			add("output1")
			values, err := r.Wait()
			ok(t, err)
			pondValues(t, values, "output1")
			add("output2")
			add("output3")
			values, err = r.Wait()
			ok(t, err)
			pondValues(t, values, "output2", "output3")
			p.Close()
		},
	},
	{
		Name: "AnErrorThatWasToldIsOver",
		Theirs: []string{
			"future.TestCompositeFutureWithErrorsAndMultipleWait",
			"future.TestCompositeFutureWithErrorsAndMultipleDone",
		},
		Behaviour: "After a wait that returned an error, what is added later is not done, and each later wait returns that error.",
		Different: "Once Wait has returned an error the group is as new, as it is after success: nothing of one batch is left to the next.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			r := weir.NewResults[string](p.Group(t.Context()))
			r.Go(func(context.Context) (string, error) { return "", errBoom })
			values, err := r.Wait()
			isError(t, err, errBoom)
			pondValues(t, values, "")
			for _, output := range []string{"output2", "output3"} {
				r.Go(func(context.Context) (string, error) { return output, nil })
			}
			values, err = r.Wait()
			ok(t, err)
			pondValues(t, values, "output2", "output3")
			p.Close()
		},
	},
	{
		Name: "TheEndOfTheContextIsToldEvenAfterSuccess",
		Theirs: []string{
			"future.TestCompositeFutureWaitWithContextCanceledAfterResolution",
			"future.TestCompositeFutureCancel",
		},
		Behaviour: "If the context ends, or the group is stopped, when all tasks have succeeded, a wait that begins after that returns no error.",
		Different: "Wait returns the cause, and all values: which came first is a race that the caller cannot see, and code that cancels may rely on the error.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			r := weir.NewResults[string](g)
			for _, end := range []struct {
				by    func()
				cause error
			}{
				{func() { g.Cancel(errBoom) }, errBoom},
				{cancel, context.Canceled},
			} {
				r.Go(func(context.Context) (string, error) { return "output1", nil })
				p.Wait()
				end.by()
				values, err := r.Wait()
				equal(t, "error", err, end.cause)
				pondValues(t, values, "output1")
			}
			p.Close()
		},
	},
	{
		Name: "TheContextTellsThatAGroupIsOver",
		Theirs: []string{
			"pond.TestTaskGroupDone",
			"pond.TestTaskGroupWithCustomContext",
			"pond.TestTaskGroupStop",
			"pond.TestTaskGroupContext",
			"future.TestCompositeFutureWithMultipleDone",
			"future.TestCompositeFutureWithErrorsAndMultipleDone",
		},
		Behaviour: "A channel is closed when all tasks of a group have ended, or one has failed, even if no goroutine waits.",
		Different: "Each group must be waited for, or its errors would be lost; for all other code its context ends when Wait returns, or before at the first failure.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			g := p.Group(t.Context())
			var ended atomic.Int64
			for n := range int64(2) {
				done := g.Context().Done()
				for range 5 {
					g.Go(pondPlain(func() {
						time.Sleep(time.Millisecond)
						ended.Add(1)
					}))
				}
				synctest.Wait()
				equal(t, "the group is over", over(done), false)
				waited := begin(func() { ok(t, g.Wait()) })
				<-done
				equal(t, "tasks that ended", ended.Load(), 5*(n+1))
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
