package peers_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// antsLimitCases are about how many tasks run at once.
var antsLimitCases = []peers.Case{
	{
		Name:      "AHigherLimitIsUsedAtOnce",
		Theirs:    []string{"ants.TestPoolTuneScaleUp"},
		Behaviour: "When the limit is raised, new tasks use the new places, and submitters that already wait get theirs, be it one or several.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(2, weir.Queue(0))
			releaseFirst := antsOccupy(t, p, 2)
			p.Resize(3)
			releaseThird := antsOccupy(t, p, 1)
			equal(t, "tasks that run after one more place", p.Stats().Running, 3)

			gate := make(chan struct{})
			var submitters sync.WaitGroup
			for range 5 {
				submitters.Go(func() { ok(t, p.give(func() { <-gate })) })
			}
			synctest.Wait()
			equal(t, "submitters that wait", p.Stats().Waiting, 5)
			p.Resize(8)
			submitters.Wait()
			synctest.Wait()
			equal(t, "tasks that run after five more", p.Stats().Running, 8)

			close(gate)
			releaseFirst()
			releaseThird()
			p.Close()
			equal(t, "tasks that ran", p.Stats().Finished, 8)
		}),
	},
	{
		Name:      "ALowerLimitHoldsForWhatStartsNext",
		Theirs:    []string{"ants.TestRestCodeCoverage"},
		Behaviour: "The limit can be set to what it is, or lowered while the pool is in use, and the pool then tells the new one.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10)
			release := antsOccupy(t, p, 10)
			p.Resize(10)
			equal(t, "limit, set to the same", p.Stats().Limit, 10)
			p.Resize(4)
			equal(t, "limit, lowered", p.Stats().Limit, 4)
			equal(t, "tasks that run on", p.Stats().Running, 10)

			var inside gauge.Gauge
			for range 40 {
				ok(t, p.give(func() {
					inside.Enter()
					defer inside.Leave()
					time.Sleep(time.Second)
				}))
			}
			release()
			p.Wait()
			equal(t, "tasks at once under the lower limit", inside.Peak.Load(), 4)
			synctest.Wait()
			equal(t, "workers left", p.Stats().Workers, 4)
			p.Resize(1)
			synctest.Wait()
			equal(t, "workers left of those that are idle", p.Stats().Workers, 1)
			p.Close()
		}),
	},
	{
		Name: "ResizingAClosedPoolDoesNoHarm",
		Theirs: []string{
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
		},
		Behaviour: "The limit may be set when the pool has been closed, and that starts nothing.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(2)
			antsOccupy(t, p, 2)()
			p.Close()
			p.Resize(10)
			synctest.Wait()
			equal(t, "workers", p.Stats().Workers, 0)
			isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
		}),
	},
	{
		Name: "AnUnlimitedPoolCanBeGivenALimit",
		Theirs: []string{
			"ants.TestInfinitePool",
			"ants.TestInfinitePoolWithFunc",
			"ants.TestInfinitePoolWithFuncGeneric",
		},
		Behaviour: "A pool that was made without a limit never gets one: a new size is ignored, and it tells -1 as its size and as the number of free workers.",
		Different: "Resize gives it the limit, since a call that is ignored in silence leaves the caller wrong about what will happen; without a limit Stats says Unbounded.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(weir.Unbounded)
			equal(t, "limit", p.Stats().Limit, weir.Unbounded)
			p.Resize(2)
			equal(t, "limit", p.Stats().Limit, 2)
			var inside gauge.Gauge
			for range 10 {
				ok(t, p.give(func() {
					inside.Enter()
					defer inside.Leave()
					time.Sleep(time.Second)
				}))
			}
			p.Close()
			equal(t, "tasks that ran at once", inside.Peak.Load(), 2)
		}),
	},
	{
		Name: "OnlyWhatExceedsTheLimitCannotBeMadeBeforehand",
		Theirs: []string{
			"ants.TestInfinitePool",
			"ants.TestInfinitePoolWithFunc",
			"ants.TestInfinitePoolWithFuncGeneric",
		},
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
		Name: "ANegativeLimitIsAMistake",
		Theirs: []string{
			"ants.TestInfinitePool",
			"ants.TestInfinitePoolWithFunc",
			"ants.TestInfinitePoolWithFuncGeneric",
		},
		Behaviour: "A size below 1 makes a pool without a limit.",
		Different: "It panics: a size that was computed wrongly must not turn the limit off; Unbounded says that none is meant.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			equal[any](t, "panic", caught(func() { made(-1) }), "weir: limit must be at least 1, got -1")
		}),
	},
}
