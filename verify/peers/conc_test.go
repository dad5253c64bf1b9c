package peers_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

var concPeer = peers.Peer{
	Name:   "conc",
	Module: "github.com/sourcegraph/conc",
	Cases:  concAgrees.and(concGroups, concResults),
}

// concGroups are the cases of groups that no test of the library shows as a whole, and those that differ.
var concGroups = []peers.Case{
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
			if caught(func() { _ = g.Wait() }) == nil {
				t.Error("Wait does not panic")
			}
			equal(t, "others that ran", ran.Load(), 1)
		},
	},
	{
		Name:      "PanicWithoutAnErrorWrapsNone",
		Theirs:    []string{"panics.TestCatcher/not error"},
		Behaviour: "A panic whose value is not an error wraps none.",
		Run: func(t *testing.T) {
			p, isPanic := errors.AsType[*weir.Panic](outcome(t, explodeTask))
			if !isPanic || errors.Unwrap(p) != nil || errors.Is(p, errBoom) {
				t.Errorf("got %v, which wraps %v", p, errors.Unwrap(p))
			}
		},
	},
	{
		Name:      "StackOfAPanic",
		Theirs:    []string{"panics.ExampleCatcher_callers"},
		Behaviour: "A panic has the program counters of its callers, among them those of the library that recovered it.",
		Different: "A Panic has its stack as text, as debug.Stack writes it, which is what one reads; it begins with the panic, without the library's own frames above that.",
		Run: func(t *testing.T) {
			p, isPanic := errors.AsType[*weir.Panic](outcome(t, func(context.Context) error { panicWithAnError(); return nil }))
			if !isPanic {
				t.Fatal("no panic")
			}
			lines := strings.Split(string(p.Stack), "\n")
			// The goroutine, the panic and its place, and then the caller of panic.
			if len(lines) < 4 || !strings.HasPrefix(lines[1], "panic(") || !strings.Contains(lines[3], "peers_test.panicWithAnError") {
				t.Errorf("stack:\n%s", p.Stack)
			}
		},
	},
	{
		Name: "PoolSetUpTooLate",
		Theirs: []string{
			"pool.TestPool/panics on configuration after init/before wait",
			"pool.TestPool/panics on configuration after init/after wait",
			"pool.TestErrorPool/panics on configuration after init/before wait",
			"pool.TestErrorPool/panics on configuration after init/after wait",
			"pool.TestContextPool/panics on configuration after init/before wait",
			"pool.TestContextPool/panics on configuration after init/after wait",
			"pool.TestResultGroup/panics on configuration after init/before wait",
			"pool.TestResultGroup/panics on configuration after init/after wait",
			"pool.TestResultErrorGroup/panics on configuration after init/before wait",
			"pool.TestResultErrorGroup/panics on configuration after init/after wait",
			"pool.TestResultContextPool/panics on configuration after init/before wait",
			"pool.TestResultContextPool/panics on configuration after init/after wait",
		},
		Behaviour: "The maximum can no longer be set once a pool of any kind has had a task, neither before Wait nor after it: that panics.",
		Different: "Options are arguments of the constructor, so none can come too late; the limit alone may change, and that at any time, by Resize.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2, weir.Queue(weir.Unbounded))
			for _, limit := range []int{2, 10, 3} { // the later ones are set before Wait and after it
				var running gauge.Gauge
				for range 100 {
					g.Go(func(context.Context) error {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Millisecond)
						return nil
					})
				}
				g.Resize(limit)
				time.Sleep(2 * time.Millisecond) // until those have ended that ran under the old limit
				running.Peak.Store(0)
				ok(t, g.Wait())
				equal(t, "ran at most", running.Peak.Load(), int64(limit))
			}
		},
	},
	{
		Name:      "PoolTellsItsMaximum",
		Theirs:    []string{"pool.TestPool/returns correct MaxGoroutines"},
		Behaviour: "A pool tells the maximum that it was given.",
		Different: "A Pool does, in its Stats; a Group is short-lived and has no Stats: the code that made it knows its limit.",
		Run: func(t *testing.T) {
			p := weir.New(42)
			equal(t, "limit", p.Stats().Limit, 42)
			p.Resize(7)
			equal(t, "limit after Resize", p.Stats().Limit, 7)
			p.Close()
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
		Name:      "ErrorsOfCancelledTasks",
		Theirs:    []string{"pool.TestContextPool/WithCancelOnError", "pool.TestResultContextPool/WithCancelOnError"},
		Behaviour: "Besides the error that has cancelled the others, Wait also returns theirs, which say that they were cancelled.",
		Different: "Only the first error is the cause, and Wait returns that; that others were cancelled follows from it, and would make errors.Is(err, context.Canceled) true for every failure.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 4)
			g.Go(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
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
		Name:      "TheFirstErrorWhileTheOthersGoOn",
		Theirs:    []string{"pool.TestContextPool/WithFirstError"},
		Behaviour: "Only the first error can be wanted without a cancellation: the others go on, and what they return is dropped.",
		Different: "A Group either ends with the first error, or, with KeepGoing, tells all errors: when nothing is cancelled each is as good as the others, and each says whose it is.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
			g.Go(func(ctx context.Context) error { time.Sleep(time.Second); ok(t, ctx.Err()); return errLate })
			g.Go(failTask)
			err := g.Wait()
			isError(t, err, errBoom)
			isError(t, err, errLate)
		},
	},
}

// explodeTask panics.
func explodeTask(context.Context) error { panic("kaboom") }

// panicWithAnError panics, in a function that can be found in a stack.
//
//go:noinline
func panicWithAnError() { panic(errBoom) }

// outcome returns the error of a Group with one task, which may be a panic.
func outcome(t *testing.T, task func(context.Context) error) error {
	t.Helper()
	g := weir.NewGroup(t.Context(), 1, weir.PanicsAsErrors())
	g.Go(task)
	return g.Wait()
}
