package peers_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// concPeer has its cases by the packages of conc: the root's WaitGroup stands here, the others
// in files of their own.
var concPeer = peers.Peer{
	Name:   "conc",
	Module: "github.com/sourcegraph/conc",
	Cases:  slices.Concat(concWaitGroup, concPanics, concPool, concErrors, concResults, concIter, concStream),
}

// concWaitGroup answers conc.WaitGroup by a Group without a limit.
var concWaitGroup = []peers.Case{
	{
		Name:      "WaitGroupRunsAll",
		Theirs:    []string{"conc.TestWaitGroup/all spawned run", "conc.ExampleWaitGroup"},
		Behaviour: "All functions have run when Wait returns.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded)
			var ran atomic.Int64
			for range 100 {
				g.Go(func(context.Context) error { ran.Add(1); return nil })
			}
			ok(t, g.Wait())
			equal(t, "tasks that ran", ran.Load(), 100)
		},
	},
	{
		Name:      "WaitGroupZeroValue",
		Theirs:    []string{"conc.TestWaitGroup/ctor", "conc.ExampleWaitGroup"},
		Behaviour: "The zero value is ready for use, and the constructor makes nothing else.",
		Different: "A Group has a context and a limit, so only NewGroup makes one, and the zero value panics with the first task.",
		Run: func(t *testing.T) {
			if caught(func() { new(weir.Group).Go(succeedTask) }) == nil {
				t.Error("the zero Group takes a task")
			}
			g := weir.NewGroup(t.Context(), weir.Unbounded)
			g.Go(succeedTask)
			ok(t, g.Wait())
		},
	},
	{
		Name:      "WaitGroupPanicComesOutOfWait",
		Theirs:    []string{"conc.TestWaitGroup/panic/is propagated", "panics.TestCatcher/repanic panics"},
		Behaviour: "A panic of a function does not end the program: Wait panics in its place, and has the value.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded)
			g.Go(explodeTask)
			equal(t, "value", panicOf(t, func() { _ = g.Wait() }).Value, any("kaboom"))
		},
	},
	{
		Name:      "WaitGroupOneOfSeveralPanicsComesOut",
		Theirs:    []string{"conc.TestWaitGroup/panic/one is propagated"},
		Behaviour: "When several functions panic Wait panics with one of them; here OnPanic gets the others, there they are lost.",
		Run: func(t *testing.T) {
			var others atomic.Int64
			g := weir.NewGroup(t.Context(), weir.Unbounded, weir.OnPanic(func(*weir.Panic) { others.Add(1) }))
			release := make(chan struct{})
			var started atomic.Int64
			for range 3 {
				g.Go(func(ctx context.Context) error {
					if started.Add(1) == 3 {
						close(release)
					}
					<-release
					return explodeTask(ctx)
				})
			}
			equal(t, "value", panicOf(t, func() { _ = g.Wait() }).Value, any("kaboom"))
			equal(t, "panics told to OnPanic", others.Load(), 2)
		},
	},
	{
		Name:      "WaitGroupPanicIsNotLostAmongOthers",
		Theirs:    []string{"conc.TestWaitGroup/panic/non-panics do not overwrite panic"},
		Behaviour: "Functions that end well after one that has panicked do not cover the panic up.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded)
			release := make(chan struct{})
			for range 10 {
				g.Go(func(context.Context) error { <-release; return nil })
			}
			g.Go(explodeTask)
			<-g.Context().Done()
			close(release)
			equal(t, "value", panicOf(t, func() { _ = g.Wait() }).Value, any("kaboom"))
		},
	},
	{
		Name:      "WaitGroupOthersBesideAPanic",
		Theirs:    []string{"conc.TestWaitGroup/panic/non-panics run successfully"},
		Behaviour: "A panic changes nothing for the others: what was given before and after it runs.",
		Different: "A panic cancels a Group, as an error does, since the work as a whole has failed: what has not started does not run; with KeepGoing and PanicsAsErrors it does.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 1)
			var ran atomic.Int64
			count := func(context.Context) error { ran.Add(1); return nil }
			g.Go(count)
			g.Go(explodeTask)
			g.Go(count)
			_ = panicOf(t, func() { _ = g.Wait() })
			equal(t, "others that ran", ran.Load(), 1)
		},
	},
	{
		Name:      "WaitGroupPanicAsAnError",
		Theirs:    []string{"conc.TestWaitGroup/panic/is caught by waitandrecover", "conc.ExampleWaitGroup_WaitAndRecover", "panics.TestRecoveredAsError/as error is not nil nil"},
		Behaviour: "The goroutine that waits may have a panic as a value, and not as a panic.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded, weir.PanicsAsErrors())
			g.Go(explodeTask)
			p, isPanic := errors.AsType[*weir.Panic](g.Wait())
			if !isPanic {
				t.Fatal("Wait returned no panic")
			}
			equal(t, "value", p.Value, any("kaboom"))
		},
	},
	{
		Name:      "WaitGroupSeveralPanicsAsErrors",
		Theirs:    []string{"conc.TestWaitGroup/panic/one is caught by waitandrecover"},
		Behaviour: "Of several panics the goroutine that waits gets one as a value; here, with KeepGoing, all of them.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded, weir.PanicsAsErrors(), weir.KeepGoing())
			g.Go(explodeTask)
			g.Go(func(context.Context) error { panic(errLate) })
			err := g.Wait()
			p, isPanic := errors.AsType[*weir.Panic](err)
			if !isPanic {
				t.Fatalf("Wait returned %v, which has no panic", err)
			}
			equal(t, "first value", p.Value, any("kaboom"))
			isError(t, err, errLate)
		},
	},
	{
		Name:      "WaitGroupOthersRunBesideAPanicAsAnError",
		Theirs:    []string{"conc.TestWaitGroup/panic/nonpanics run successfully with waitandrecover", "panics.ExampleCatcher"},
		Behaviour: "Where a panic is wanted as a value, the functions before and after it all run.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 1, weir.PanicsAsErrors(), weir.KeepGoing())
			var ran atomic.Int64
			count := func(context.Context) error { ran.Add(1); return nil }
			g.Go(count)
			g.Go(explodeTask)
			g.Go(count)
			p, isPanic := errors.AsType[*weir.Panic](g.Wait())
			if !isPanic || p.Value != any("kaboom") {
				t.Errorf("got %v", p)
			}
			equal(t, "others that ran", ran.Load(), 2)
		},
	},
}

// explodeTask panics.
func explodeTask(context.Context) error { panic("kaboom") }

// panicOf returns what f panics with, and ends the test if that is not a panic of a task.
func panicOf(t *testing.T, f func()) *weir.Panic {
	t.Helper()
	value := caught(f)
	p, isPanic := value.(*weir.Panic)
	if !isPanic {
		t.Fatalf("panicked with %#v, want a *weir.Panic", value)
	}
	return p
}
