package peers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/verify/peers"
)

var errgroupPeer = peers.Peer{
	Name:   "errgroup",
	Module: "golang.org/x/sync",
	Folder: "errgroup",
	Cases:  errgroupAgrees.and(errgroupOwn),
	Apart: []peers.Apart{{
		Theirs: []string{"errgroup.ExampleGroup_justErrors"},
		Reason: "it asks hosts of the internet, compares no output, and uses only what TestZeroGroup pins",
	}},
}

// errgroupOwn are the cases that no test of the library shows as a whole, and those that differ.
var errgroupOwn = []peers.Case{
	{
		Name:      "StagesOfAPipelineShareAGroup",
		Theirs:    []string{"errgroup.ExampleGroup_pipeline"},
		Behaviour: "A producer and its consumers may be functions of one group, another goroutine may wait for them to close the channel of results, and both calls of Wait return the same.",
		Run: func(t *testing.T) {
			for _, want := range []error{nil, errBoom} {
				var g errgroup.Group
				numbers, squares := make(chan int), make(chan int)
				g.Go(func() error {
					defer close(numbers)
					for i := range 100 {
						numbers <- i
					}
					return want
				})
				for range 4 {
					g.Go(func() error {
						for n := range numbers {
							squares <- n * n
						}
						return nil
					})
				}
				closing := begin(func() {
					equal(t, "outcome", g.Wait(), want)
					close(squares)
				})
				sum := 0
				for square := range squares {
					sum += square
				}
				equal(t, "outcome", g.Wait(), want)
				equal(t, "sum of the squares", sum, 328350)
				<-closing
			}
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
}

// succeedTask and failTask are tasks of groups.
func succeedTask(context.Context) error { return nil }
func failTask(context.Context) error    { return errBoom }
