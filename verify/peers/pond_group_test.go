package peers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondGroupCases are about tasks that are waited for together.
var pondGroupCases = []peers.Case{
	{
		Name:      "WaitReturnsWhenARunningTaskHasEnded",
		Theirs:    []string{"pond.TestTaskGroupWaitWithContextCanceledAndOngoingTasks", "pond.TestTaskGroupWithCustomContext"},
		Behaviour: "If a task ends the context of its group, it goes on to its own end, the tasks behind it never start, and the caller that waits gets that error after it.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ctx, cancel := context.WithCancel(t.Context())
			g := p.Group(ctx)
			ended := 0
			g.Go(pondPlain(func() { ended++ }))
			g.Go(pondPlain(func() {
				cancel()
				time.Sleep(10 * time.Millisecond)
				ended++
			}))
			g.Go(pondPlain(func() { t.Error("a cancelled task ran") }))
			start := time.Now()
			isError(t, g.Wait(), context.Canceled)
			equal(t, "time", time.Since(start), 10*time.Millisecond)
			equal(t, "tasks that ended", ended, 2)
			p.Close()
		},
	},
	{
		Name: "AGroupOfACancelledContextRunsNothing",
		Theirs: []string{
			"future.TestCompositeFutureWaitWithCanceledContext",
			"future.TestCompositeFutureWaitBeforeContextCanceled",
		},
		Behaviour: "If the context has ended before the tasks start, a caller that waits for them gets that error, and a zero value for each, whether they were waited for before or after.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			gate := make(chan struct{})
			ok(t, p.Submit(func() { <-gate }))
			ctx, cancel := context.WithCancel(t.Context())
			r := weir.NewResults[string](p.Group(ctx))
			output := func(context.Context) (string, error) {
				t.Error("a cancelled task ran")
				return "output", nil
			}
			wait := func() {
				values, err := r.Wait()
				isError(t, err, context.Canceled)
				pondValues(t, values, "")
			}
			r.Go(output)
			waited := begin(wait)
			synctest.Wait()
			equal(t, "the wait is over", over(waited), false)
			cancel()
			synctest.Wait()
			equal(t, "the wait is over", over(waited), true)
			equal(t, "tasks queued", p.Stats().Queued, 0)
			r.Go(output)
			wait()
			close(gate)
			p.Close()
		},
	},
	{
		Name:      "ATaskMayFailWithAContextOfItsOwn",
		Theirs:    []string{"pond.TestTaskGroupWithContextCanceled"},
		Behaviour: "The error of a context that a task watches on its own account comes out like any other.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			g := p.Group(t.Context())
			own, cancel := context.WithCancel(t.Context())
			g.Go(func(context.Context) error {
				select {
				case <-own.Done():
					return own.Err()
				case <-time.After(time.Hour):
					return nil
				}
			})
			synctest.Wait()
			cancel()
			err := g.Wait()
			isError(t, err, context.Canceled)
			failed, isTask := errors.AsType[*weir.TaskError](err)
			equal(t, "it is the error of the first task", isTask && failed.Index == 0, true)
			p.Close()
		},
	},
	{
		Name:      "AFailureSkipsWhatHasNotStarted",
		Theirs:    []string{"pond.TestTaskGroupCanceledShouldSkipRemainingTasks"},
		Behaviour: "After the first error no other task of the group starts, and the error comes out of the wait.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			g := p.Group(t.Context())
			ran := 0
			g.Go(pondPlain(func() { ran++ }))
			g.Go(func(context.Context) error { time.Sleep(10 * time.Millisecond); return errBoom })
			g.Go(pondPlain(func() { ran++ }))
			isError(t, g.Wait(), errBoom)
			equal(t, "tasks that ran", ran, 1)
			p.Close()
		},
	},
	{
		Name:      "ATaskCanStopItsGroup",
		Theirs:    []string{"pond.TestTaskGroupStop"},
		Behaviour: "A group can be stopped from within: the task that does so ends normally, those behind it never start, and the caller that waits gets the error that the group was stopped.",
		Run: func(t *testing.T) {
			stopped := errors.New("group stopped")
			p := pondPool(1)
			g := p.Group(t.Context())
			done := g.Context().Done()
			ran := 0
			g.Go(pondPlain(func() { ran++ }))
			g.Go(pondPlain(func() {
				g.Cancel(stopped)
				ran++
			}))
			g.Go(pondPlain(func() { ran++ }))
			equal(t, "error", g.Wait(), stopped)
			equal(t, "the group's context has ended", over(done), true)
			equal(t, "tasks that ran", ran, 2)
			p.Close()
		},
	},
	{
		Name:      "TheFirstErrorEndsTheContextOfTheOthers",
		Theirs:    []string{"pond.TestTaskGroupContext"},
		Behaviour: "The first error ends the group's context, which running tasks may watch; a second error does not replace the first, and a task that has not started is skipped.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			g := p.Group(t.Context())
			outside := g.Context()
			both := make(chan struct{})
			g.Go(func(context.Context) error {
				<-both
				return errBoom
			})
			g.Go(func(ctx context.Context) error {
				<-both
				<-ctx.Done()
				<-outside.Done()
				return errLate
			})
			g.Go(pondPlain(func() { t.Error("a task of a failed group ran") }))
			synctest.Wait()
			equal(t, "the context has ended", over(outside.Done()), false)
			close(both)
			err := g.Wait()
			isError(t, err, errBoom)
			equal(t, "it is the second error", errors.Is(err, errLate), false)
			p.Close()
			want := weir.Stats{Limit: 2, Accepted: 3, Finished: 2, HandedBack: 1}
			equal(t, "counts", p.Stats(), want)
		},
	},
}
