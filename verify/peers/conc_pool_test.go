package peers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// concPool answers what the kinds of conc/pool have in common: limits and panics.
var concPool = []peers.Case{
	{
		Name:      "PoolWithoutAMaximumRunsAllAtOnce",
		Theirs:    []string{"pool.TestPool/basic"},
		Behaviour: "Without a maximum all tasks may run at once, and all have ended when Wait returns.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded)
			var running gauge.Gauge
			begun := time.Now()
			for range 100 {
				g.Go(func(context.Context) error {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Millisecond)
					return nil
				})
			}
			ok(t, g.Wait())
			equal(t, "ran at most", running.Peak.Load(), 100)
			equal(t, "run at the end", running.Now.Load(), 0)
			equal(t, "time for all", time.Since(begun), time.Millisecond)
		},
	},
	{
		Name:      "PoolKeepsTheMaximum",
		Theirs:    []string{"pool.TestPool/limit", "pool.TestErrorPool/limit", "pool.TestContextPool/limit", "pool.ExamplePool"},
		Behaviour: "With a maximum never more tasks run at once, every task runs, and none still does when Wait returns.",
		Run: func(t *testing.T) {
			for _, limit := range []int{1, 3, 10, 100} {
				g := weir.NewGroup(t.Context(), limit, weir.Queue(0))
				var running gauge.Gauge
				var ran atomic.Int64
				for range 10 * limit {
					g.Go(func(context.Context) error {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Millisecond)
						ran.Add(1)
						return nil
					})
				}
				ok(t, g.Wait())
				equal(t, "ran at most", running.Peak.Load(), int64(limit))
				equal(t, "run at the end", running.Now.Load(), 0)
				equal(t, "tasks that ran", ran.Load(), int64(10*limit))
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
		Name:      "PoolMaximumBelowOne",
		Theirs:    []string{"pool.TestPool/panics on invalid WithMaxGoroutines"},
		Behaviour: "A maximum below 1 panics at once.",
		Run: func(t *testing.T) {
			for _, misuse := range []func(){
				func() { weir.NewGroup(t.Context(), 0) },
				func() { weir.New(0) },
				func() { weir.NewFunc(0, func(int) {}) },
			} {
				equal(t, "panic", caught(misuse), any("weir: limit must be at least 1, got 0"))
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
		Name:      "PoolPanicOfOneOfMany",
		Theirs:    []string{"pool.TestPool/propagate panic", "pool.TestErrorPool/propagates panics"},
		Behaviour: "Wait panics when one of many tasks has, also if the others return errors or nothing.",
		Run: func(t *testing.T) {
			for _, opts := range [][]weir.Option{nil, {weir.KeepGoing()}} {
				g := weir.NewGroup(t.Context(), weir.Unbounded, opts...)
				for i := range 10 {
					g.Go(func(context.Context) error {
						if i == 5 {
							panic("fatal")
						}
						return nil
					})
				}
				equal(t, "value", panicOf(t, func() { _ = g.Wait() }).Value, any("fatal"))
			}
		},
	},
	{
		Name:      "PoolPanicsUseUpNoWorker",
		Theirs:    []string{"pool.TestPool/panics do not exhaust goroutines"},
		Behaviour: "More tasks than the maximum may panic: each is run by a worker that then runs others, Go does not block for ever, and Wait panics.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2, weir.Queue(0), weir.OnPanic(func(*weir.Panic) {}))
			for range 10 {
				g.Go(explodeTask)
			}
			_ = panicOf(t, func() { _ = g.Wait() })

			var ran atomic.Int64
			g = weir.NewGroup(t.Context(), 2, weir.Queue(0), weir.KeepGoing(), weir.PanicsAsErrors())
			for range 10 {
				g.Go(func(ctx context.Context) error { ran.Add(1); return explodeTask(ctx) })
			}
			if _, isPanic := errors.AsType[*weir.Panic](g.Wait()); !isPanic {
				t.Error("Wait returned no panic")
			}
			equal(t, "tasks that ran", ran.Load(), 10)
		},
	},
}
