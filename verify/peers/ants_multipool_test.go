package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsMultiPoolCases are about many pools behind one face, which Weir does not have.
var antsMultiPoolCases = []peers.Case{
	{
		Name: "OnePoolIsEnoughForAllPlaces",
		Theirs: []string{
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
			"ants.TestMultiPoolReleaseContext",
			"ants.TestMultiPoolWithFuncReleaseContext",
			"ants.TestMultiPoolWithFuncGenericReleaseContext",
			"ants.ExampleMultiPool",
			"ants.ExampleMultiPoolWithFunc",
			"ants.ExampleMultiPoolWithFuncGeneric",
		},
		Behaviour: "Ten pools of five behind one face run fifty tasks at once with no submitter waiting, and end when these have.",
		Different: "A single pool of fifty does, and no task waits in one part while another part is free.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(50, weir.Queue(0))
			gate := make(chan struct{})
			for range 50 {
				ok(t, p.tryGive(func() { <-gate }))
			}
			isError(t, p.tryGive(func() { t.Error("a refused task ran") }), weir.ErrFull)
			synctest.Wait()
			stats := p.Stats()
			equal(t, "tasks that run", stats.Running, 50)
			equal(t, "submitters that wait", stats.Waiting, 0)
			equal(t, "free places", stats.Limit-stats.Running, 0)

			close(gate)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := p.Shutdown(ctx)
			ok(t, err)
			equal(t, "tasks that run", p.Stats().Running, 0)
			equal(t, "tasks that ran", p.Stats().Finished, 50)
			antsSum(t, made(100), 100)
		}),
	},
	{
		Name: "SeveralPoolsCanBeBalancedByTheirCounts",
		Theirs: []string{
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
		},
		Behaviour: "Tasks go to the pools in turn or to the one with the fewest, each pool tells its own counts by its index, and a strategy, a number of pools or an index that does not exist is refused.",
		Different: "A program that wants several pools has them in a slice, so there is no strategy, number or index to be wrong about: the next one, or the one whose Stats say so, is for the caller to choose.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			next := 0
			inTurn := func(pools []antsPool) antsPool {
				next++
				return pools[next%len(pools)]
			}
			fewest := func(pools []antsPool) antsPool {
				least := pools[0]
				for _, p := range pools {
					if p.Stats().Running < least.Stats().Running {
						least = p
					}
				}
				return least
			}
			for _, choose := range []func([]antsPool) antsPool{inTurn, fewest} {
				var pools []antsPool
				for range 10 {
					pools = append(pools, made(5, weir.Queue(0)))
				}
				gate := make(chan struct{})
				for range 50 {
					ok(t, choose(pools).tryGive(func() { <-gate }))
					synctest.Wait()
				}
				for i, p := range pools {
					if got := p.Stats(); got.Running != 5 || got.Waiting != 0 {
						t.Errorf("pool %d: %+v, want 5 that run and none that waits", i, got)
					}
				}
				close(gate)
				for _, p := range pools {
					p.Close()
				}
			}
		}),
	},
}
