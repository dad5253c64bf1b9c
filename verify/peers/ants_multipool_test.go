package peers_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsMultiPoolCases are about many pools behind one face, which Weir does not have.
var antsMultiPoolCases = []peers.Case{
	{
		Name:      "OnePoolIsEnoughForAllPlaces",
		Theirs:    ants("TestMultiPool*", "TestMultiPool*ReleaseContext", "ExampleMultiPool*"),
		Behaviour: "Ten pools of five behind one face run fifty tasks at once with no submitter waiting, and end when these have.",
		Different: "A single pool of fifty does, and no task waits in one part while another part is free.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(50, weir.Queue(0))
			release := antsOccupy(t, p, 50)
			isError(t, p.tryGive(func() { t.Error("a refused task ran") }), weir.ErrFull)
			stats := p.Stats()
			equal(t, "tasks that run", stats.Running, 50)
			equal(t, "submitters that wait", stats.Waiting, 0)

			release()
			p.Close()
			equal(t, "tasks that run", p.Stats().Running, 0)
			equal(t, "tasks that ran", p.Stats().Finished, 50)
		}),
	},
	{
		Name:      "SeveralPoolsCanBeBalancedByTheirCounts",
		Theirs:    ants("TestMultiPool*"),
		Behaviour: "Tasks go to the pools in turn or to the one with the fewest, each pool tells its own counts by its index, and a strategy, a number of pools or an index that does not exist is refused.",
		Different: "A program that wants several pools has them in a slice, so there is no strategy, number or index to be wrong about: the next one, or the one whose Stats say so, is for the caller to choose.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			inTurn := func(n int, pools []antsPool) antsPool { return pools[n%len(pools)] }
			fewest := func(_ int, pools []antsPool) antsPool {
				return slices.MinFunc(pools, func(p, q antsPool) int { return p.Stats().Running - q.Stats().Running })
			}
			for _, choose := range []func(int, []antsPool) antsPool{inTurn, fewest} {
				var pools []antsPool
				for range 10 {
					pools = append(pools, made(5, weir.Queue(0)))
				}
				gate := make(chan struct{})
				for n := range 50 {
					ok(t, choose(n, pools).tryGive(func() { <-gate }))
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
