package peers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// errgroupToGroup answers errgroup by a Group.
var errgroupToGroup = []peers.Case{
	{
		Name:      "GroupSuccessIsNoError",
		Theirs:    []string{"errgroup.TestZeroGroup", "errgroup.TestWithContext"},
		Behaviour: "A Group returns nil from Wait when all tasks have returned nil, or when there was none.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			ok(t, g.Wait())
			g.Go(succeedTask)
			ok(t, g.Wait())
		},
	},
	{
		Name:      "GroupZeroValue",
		Theirs:    []string{"errgroup.TestZeroGroup"},
		Behaviour: "The zero group can be used as it is, without a limit and without a context.",
		Different: "A Group is made by NewGroup, so that a program cannot forget its limit and its context; the zero value panics with the first task.",
		Run: func(t *testing.T) {
			if caught(func() { new(weir.Group).Go(succeedTask) }) == nil {
				t.Error("the zero Group takes a task")
			}
		},
	},
	{
		Name:      "GroupSaysWhichTaskFailed",
		Theirs:    []string{"errgroup.TestZeroGroup", "errgroup.TestWithContext"},
		Behaviour: "Wait returns the very error that a function returned.",
		Different: "A Group returns a TaskError around it, which also says which task it was; errors.Is and errors.As find what is inside.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 1)
			g.Go(succeedTask)
			g.Go(failTask)
			err := g.Wait()
			isError(t, err, errBoom)
			failed, isTask := errors.AsType[*weir.TaskError](err)
			if !isTask || failed.Index != 1 || !errors.Is(failed.Err, errBoom) {
				t.Errorf("Wait returned %#v", err)
			}
		},
	},
	{
		Name:      "GroupBeginsAnewAfterWait",
		Theirs:    []string{"errgroup.TestZeroGroup"},
		Behaviour: "After a first error every later Wait returns it again.",
		Different: "Wait ends a batch, and nothing of it is left to the next: a Group can be used again, where a group of errgroup stays failed.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			for _, want := range []error{errBoom, nil, errLate} {
				g.Go(func(ctx context.Context) error {
					ok(t, ctx.Err())
					return want
				})
				isError(t, g.Wait(), want)
			}
		},
	},
	{
		Name:      "GroupWaitEndsTheContext",
		Theirs:    []string{"errgroup.TestWithContext", "errgroup.TestCancelCause"},
		Behaviour: "The context of a Group is done when Wait has returned, with context.Canceled as its cause when nothing failed.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			for _, tasks := range []int{0, 1, 5} {
				ctx := g.Context()
				for range tasks {
					g.Go(succeedTask)
				}
				ok(t, ctx.Err())
				ok(t, g.Wait())
				equal(t, "cause", context.Cause(ctx), context.Canceled)
			}
		},
	},
	{
		Name:      "GroupFirstErrorIsTheCause",
		Theirs:    []string{"errgroup.TestWithContext", "errgroup.TestCancelCause"},
		Behaviour: "The first error of a Group ends the context at once and is its cause, whether Go or TryGo has taken the task.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2)
			add := []func(func(context.Context) error){g.Go, func(task func(context.Context) error) { g.TryGo(task) }}
			for _, add := range add {
				ctx := g.Context()
				add(failTask)
				<-ctx.Done()
				isError(t, context.Cause(ctx), errBoom)
				isError(t, g.Wait(), errBoom)
			}
		},
	},
	{
		Name:      "GroupTryGoTakesAsManyAsTheLimit",
		Theirs:    []string{"errgroup.TestTryGo"},
		Behaviour: "TryGo of a Group without a queue takes tasks up to the limit and refuses the next one, until others have ended; another limit may be set between batches.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 42, weir.Queue(0))
			for _, limit := range []int{42, 42, 1, 3} {
				g.Resize(limit)
				release := make(chan struct{})
				taken := 0
				for g.TryGo(func(context.Context) error { <-release; return nil }) {
					taken++
				}
				equal(t, "tasks taken", taken, limit)
				close(release)
				ok(t, g.Wait())
			}
		},
	},
	{
		Name:      "GroupLimitOfZero",
		Theirs:    []string{"errgroup.TestTryGo"},
		Behaviour: "A limit of 0 is a limit, with which no function is let in.",
		Different: "A group on which nothing can run is a mistake, so a limit below 1 panics and says what must hold; to hold tasks back there is Pause of a Pool.",
		Run: func(t *testing.T) {
			equal(t, "panic", caught(func() { weir.NewGroup(t.Context(), 0) }),
				any("weir: limit must be at least 1, got 0"))
			g := weir.NewGroup(t.Context(), 1)
			equal(t, "panic", caught(func() { g.Resize(0) }),
				any("weir: limit must be at least 1, got 0"))
		},
	},
	{
		Name:      "GroupKeepsTheLimit",
		Theirs:    []string{"errgroup.TestGoLimit"},
		Behaviour: "However many tasks a Group is given, never more than the limit run at once.",
		Run: func(t *testing.T) {
			const limit = 10
			for _, queue := range []int{0, 5, weir.Unbounded} {
				g := weir.NewGroup(t.Context(), limit, weir.Queue(queue))
				var running gauge.Gauge
				for range 1000 {
					g.Go(func(context.Context) error {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Microsecond)
						return nil
					})
				}
				ok(t, g.Wait())
				equal(t, "ran at most", running.Peak.Load(), limit)
			}
		},
	},
	{
		Name:      "GroupResultsNeedNoSliceOfOnesOwn",
		Theirs:    []string{"errgroup.ExampleGroup_parallel"},
		Behaviour: "What tasks have found is there after Wait, in the order of the tasks; Results keep it, so that no task writes into a slice.",
		Run: func(t *testing.T) {
			r := weir.NewResults[string](weir.NewGroup(t.Context(), 3))
			for i, kind := range []string{"page", "picture", "film"} {
				r.Go(func(context.Context) (string, error) {
					time.Sleep(time.Duration(3-i) * time.Second)
					return kind, nil
				})
			}
			found, err := r.Wait()
			ok(t, err)
			equal(t, "results", fmt.Sprint(found), "[page picture film]")
		},
	},
	{
		Name:      "GroupMayBeWaitedForByMany",
		Theirs:    []string{"errgroup.ExampleGroup_pipeline"},
		Behaviour: "The stages of a pipeline may be tasks of one Group, which all get its context, and several calls of Wait at once return the same.",
		Run: func(t *testing.T) {
			for _, want := range []error{nil, errBoom} {
				g := weir.NewGroup(t.Context(), 5)
				numbers, squares := make(chan int), make(chan int)
				g.Go(func(ctx context.Context) error {
					defer close(numbers)
					for i := range 100 {
						if !send(ctx, numbers, i) {
							return ctx.Err()
						}
					}
					return want
				})
				for range 4 {
					g.Go(func(ctx context.Context) error {
						for n := range numbers {
							if !send(ctx, squares, n*n) {
								return ctx.Err()
							}
						}
						return nil
					})
				}
				other := begin(func() { isError(t, g.Wait(), want) })
				closed := begin(func() {
					isError(t, g.Wait(), want)
					close(squares)
				})
				synctest.Wait() // until both wait: a call after the end of a batch is one for the next
				sum := 0
				for square := range squares {
					sum += square
				}
				<-other
				<-closed
				if want == nil {
					equal(t, "sum of the squares", sum, 328350)
				}
			}
		},
	},
}

// succeedTask and failTask are tasks of groups.
func succeedTask(context.Context) error { return nil }
func failTask(context.Context) error    { return errBoom }
