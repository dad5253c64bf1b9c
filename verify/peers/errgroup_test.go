package peers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// errgroupPeer is answered twice: by the package of the same name, which replaces it by the
// import path alone, and by a Group, which is what a new program should use.
var errgroupPeer = peers.Peer{
	Name:   "errgroup",
	Module: "golang.org/x/sync",
	Folder: "errgroup",
	Cases:  slices.Concat(errgroupReplaced, errgroupToGroup),
	Apart: []peers.Apart{{
		Theirs: []string{"errgroup.ExampleGroup_justErrors"},
		Reason: "it asks hosts of the internet, compares no output, and uses only what TestZeroGroup pins",
	}},
}

var errgroupReplaced = []peers.Case{
	{
		Name:      "SuccessIsNoError",
		Theirs:    []string{"errgroup.TestZeroGroup"},
		Behaviour: "The zero group can be used as it is, and its Wait returns nil when the function has returned nil, or when there was none.",
		Run: func(t *testing.T) {
			var g errgroup.Group
			ok(t, g.Wait())
			g.Go(succeed)
			ok(t, g.Wait())
		},
	},
	{
		Name:      "WaitReturnsTheErrorItself",
		Theirs:    []string{"errgroup.TestZeroGroup"},
		Behaviour: "Wait returns the very error that a function returned, not one that wraps it.",
		Run: func(t *testing.T) {
			var g errgroup.Group
			g.Go(fail)
			if err := g.Wait(); err != errBoom { //nolint:errorlint // That it is the same value is what counts here.
				t.Errorf("Wait returned %v", err)
			}
		},
	},
	{
		Name:      "TheFirstErrorStays",
		Theirs:    []string{"errgroup.TestZeroGroup"},
		Behaviour: "After a first error every later Wait returns it again, whatever functions that came in between have returned.",
		Run: func(t *testing.T) {
			var g errgroup.Group
			for _, err := range []error{errBoom, nil, errLate} {
				g.Go(func() error { return err })
				equal(t, "outcome", g.Wait(), errBoom)
			}
		},
	},
	{
		Name:      "WaitEndsTheContext",
		Theirs:    []string{"errgroup.TestWithContext"},
		Behaviour: "The context of a group is done when Wait has returned, also when nothing failed, and when there was no function at all.",
		Run: func(t *testing.T) {
			for _, functions := range []int{0, 1, 5} {
				g, ctx := errgroup.WithContext(t.Context())
				for range functions {
					g.Go(succeed)
				}
				if over(ctx.Done()) {
					t.Error("the context is done before Wait")
				}
				ok(t, g.Wait())
				isError(t, ctx.Err(), context.Canceled)
			}
		},
	},
	{
		Name:      "AnErrorEndsTheContextAndComesOutOfWait",
		Theirs:    []string{"errgroup.TestWithContext"},
		Behaviour: "In a group with a context an error is what Wait returns, whether others succeed after it or not, and it ends the context without waiting for Wait.",
		Run: func(t *testing.T) {
			for _, others := range []int{0, 3} {
				g, ctx := errgroup.WithContext(t.Context())
				g.Go(fail)
				for range others {
					g.Go(succeed)
				}
				<-ctx.Done()
				equal(t, "outcome", g.Wait(), errBoom)
			}
		},
	},
	{
		Name:      "TheFirstErrorIsTheCause",
		Theirs:    []string{"errgroup.TestCancelCause"},
		Behaviour: "The cause of the context is the first error, also of a function that TryGo has taken.",
		Run: func(t *testing.T) {
			g, ctx := errgroup.WithContext(t.Context())
			for _, f := range []func() error{fail, succeed} {
				if !g.TryGo(f) {
					t.Error("TryGo refused a function though there is no limit")
				}
			}
			equal(t, "outcome", g.Wait(), errBoom)
			equal(t, "cause", context.Cause(ctx), errBoom)
		},
	},
	{
		Name:      "WithoutAnErrorTheCauseIsCanceled",
		Theirs:    []string{"errgroup.TestCancelCause"},
		Behaviour: "When nothing failed, or nothing ran, the cause of the context is context.Canceled after Wait.",
		Run: func(t *testing.T) {
			for _, functions := range []int{0, 1} {
				g, ctx := errgroup.WithContext(t.Context())
				for range functions {
					g.TryGo(succeed)
				}
				ok(t, g.Wait())
				equal(t, "cause", context.Cause(ctx), context.Canceled)
			}
		},
	},
	{
		Name:      "TryGoTakesAsManyAsTheLimit",
		Theirs:    []string{"errgroup.TestTryGo"},
		Behaviour: "TryGo takes functions up to the limit and refuses the next one, until others have ended.",
		Run: func(t *testing.T) {
			const limit = 42
			var g errgroup.Group
			g.SetLimit(limit)
			for range 2 { // the second time after a Wait
				release := make(chan struct{})
				for i := range limit {
					if !g.TryGo(func() error { <-release; return nil }) {
						t.Errorf("function %d was refused", i)
					}
				}
				if g.TryGo(fail) {
					t.Error("one more than the limit was taken")
				}
				close(release)
				ok(t, g.Wait())
			}
		},
	},
	{
		Name:      "TheLimitMayChangeBetweenBatches",
		Theirs:    []string{"errgroup.TestTryGo"},
		Behaviour: "While no function runs, the limit may be set anew, and holds from then on.",
		Run: func(t *testing.T) {
			var g errgroup.Group
			for _, limit := range []int{3, 1, 2} {
				g.SetLimit(limit)
				release := make(chan struct{})
				taken := 0
				for g.TryGo(func() error { <-release; return nil }) {
					taken++
				}
				equal(t, "functions taken", taken, limit)
				close(release)
				ok(t, g.Wait())
			}
		},
	},
	{
		Name:      "ALimitOfZeroLetsNothingIn",
		Theirs:    []string{"errgroup.TestTryGo"},
		Behaviour: "With a limit of 0 TryGo refuses every function, and Wait returns at once.",
		Run: func(t *testing.T) {
			var g errgroup.Group
			g.SetLimit(0)
			for range 1000 {
				if g.TryGo(fail) {
					t.Fatal("a function was taken")
				}
			}
			ok(t, g.Wait())
		},
	},
	{
		Name:      "GoKeepsTheLimit",
		Theirs:    []string{"errgroup.TestGoLimit"},
		Behaviour: "However many functions Go is given, never more than the limit are active at once.",
		Run: func(t *testing.T) {
			const limit = 10
			var g errgroup.Group
			g.SetLimit(limit)
			var active gauge.Gauge
			for range 1000 {
				g.Go(func() error {
					active.Enter()
					defer active.Leave()
					time.Sleep(time.Microsecond)
					return nil
				})
			}
			ok(t, g.Wait())
			equal(t, "active at most", active.Peak.Load(), limit)
		},
	},
	{
		Name:      "WhatFunctionsWroteIsThereAfterWait",
		Theirs:    []string{"errgroup.ExampleGroup_parallel"},
		Behaviour: "Functions may write into places of their own in a slice without a lock, and the goroutine that has called Wait may read them.",
		Run: func(t *testing.T) {
			g, ctx := errgroup.WithContext(t.Context())
			var found [3]string
			for i, kind := range []string{"page", "picture", "film"} {
				g.Go(func() error {
					found[i] = kind
					return ctx.Err()
				})
			}
			ok(t, g.Wait())
			equal(t, "results", fmt.Sprint(found), "[page picture film]")
		},
	},
	{
		Name:      "StagesOfAPipelineShareAGroup",
		Theirs:    []string{"errgroup.ExampleGroup_pipeline"},
		Behaviour: "A producer and its consumers may be functions of one group, another goroutine may wait for them to close the channel of results, and both calls of Wait return the same.",
		Run: func(t *testing.T) {
			for _, want := range []error{nil, errBoom} {
				g, ctx := errgroup.WithContext(t.Context())
				numbers, squares := make(chan int), make(chan int)
				g.Go(func() error {
					defer close(numbers)
					for i := range 100 {
						if !send(ctx, numbers, i) {
							return ctx.Err()
						}
					}
					return want
				})
				for range 4 {
					g.Go(func() error {
						for n := range numbers {
							if !send(ctx, squares, n*n) {
								return ctx.Err()
							}
						}
						return nil
					})
				}
				go func() {
					isError(t, g.Wait(), want)
					close(squares)
				}()
				sum := 0
				for square := range squares {
					sum += square
				}
				isError(t, g.Wait(), want)
				if want == nil {
					equal(t, "sum of the squares", sum, 328350)
				}
				synctest.Wait() // for the goroutine that closes
			}
		},
	},
}

// succeed and fail are functions for the cases of errgroup.
func succeed() error { return nil }
func fail() error    { return errBoom }

// send reports whether the value was received before the context was done.
func send(ctx context.Context, to chan<- int, value int) bool {
	select {
	case to <- value:
		return true
	case <-ctx.Done():
		return false
	}
}
