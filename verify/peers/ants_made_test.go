package peers_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// antsMadeCases are about how a pool is made, and what it does then.
var antsMadeCases = []peers.Case{
	{
		Name:      "AFastProducerKeepsAllWorkersBusy",
		Theirs:    ants("TestAntsPool*WaitToGetWorker", "TestAntsPool*WaitToGetWorkerPreMalloc", "ExamplePool*"),
		Behaviour: "A producer with far more tasks than the pool has workers waits for a free one each time, no worker is ever idle, and every task runs once; a pool that makes everything beforehand does the same.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			const tasks, workers, pause = 1000, 10, 10 * time.Millisecond
			for _, opts := range [][]weir.Option{{weir.Queue(0)}, {weir.Queue(0), weir.Prestart(workers)}, {weir.Queue(weir.Unbounded)}} {
				p := made(workers, opts...)
				var sum atomic.Int64
				var inside gauge.Gauge
				start := time.Now()
				for i := range tasks {
					ok(t, p.give(func() {
						inside.Enter()
						defer inside.Leave()
						time.Sleep(pause)
						sum.Add(int64(i))
					}))
				}
				p.Close()
				equal(t, "sum", sum.Load(), 499_500)
				equal(t, "tasks that ran at once", inside.Peak.Load(), workers)
				equal(t, "time", time.Since(start), tasks/workers*pause)
			}
		}),
	},
	{
		Name:      "AnUnlimitedPoolCanBeGivenALimit",
		Theirs:    ants("TestInfinitePool*"),
		Behaviour: "A pool that was made without a limit never gets one: a new size is ignored, and it tells -1 as its size and as the number of free workers.",
		Different: "Resize gives it the limit, since a call that is ignored in silence leaves the caller wrong about what will happen; without a limit Stats says Unbounded.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(weir.Unbounded)
			equal(t, "limit", p.Stats().Limit, weir.Unbounded)
			p.Resize(2)
			equal(t, "limit", p.Stats().Limit, 2)
			release := antsOccupy(t, p, 10)
			equal(t, "tasks that run at once", p.Stats().Running, 2)
			release()
			p.Close()
		}),
	},
	{
		Name:      "OnlyWhatExceedsTheLimitCannotBeMadeBeforehand",
		Theirs:    ants("TestInfinitePool*"),
		Behaviour: "A pool without a limit cannot be set to make everything beforehand: it is refused.",
		Different: "Prestart names a number of its own, so it fits a pool without a limit too; more than the limit is refused.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(weir.Unbounded, weir.Prestart(3))
			synctest.Wait()
			equal(t, "workers", p.Stats().Workers, 3)
			p.Close()
			equal[any](t, "panic", caught(func() { made(2, weir.Prestart(3)) }),
				"weir: prestarted workers must be at most the limit 2, got 3")
		}),
	},
	{
		Name:      "ANegativeLimitIsAMistake",
		Theirs:    ants("TestInfinitePool*"),
		Behaviour: "A size below 1 makes a pool without a limit.",
		Different: "It panics: a size that was computed wrongly must not turn the limit off; Unbounded says that none is meant.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			equal[any](t, "panic", caught(func() { made(-1) }), "weir: limit must be at least 1, got -1")
		}),
	},
	{
		Name:      "ANegativeExpiryIsAMistake",
		Theirs:    ants("TestRestCodeCoverage", "TestMultiPool*"),
		Behaviour: "A negative idle time is refused with an error when the pool is made, whatever the limit.",
		Different: "The option panics where it is written: no run of the program could put that right, so there is no error to look at for each pool.",
		Run: func(t *testing.T) {
			equal[any](t, "panic", caught(func() { weir.IdleTimeout(-1) }), "weir: idle timeout must be at least 0, got -1ns")
		},
	},
	{
		Name:      "AMissingFunctionIsAMistake",
		Theirs:    ants("TestRestCodeCoverage"),
		Behaviour: "A pool for one function is refused with an error if there is no function.",
		Different: "It panics at the call, like everything that can never be right.",
		Run: func(t *testing.T) {
			equal[any](t, "panic", caught(func() { weir.NewFunc[any](1, nil) }), "weir: function must not be nil, got nil")
		},
	},
}
