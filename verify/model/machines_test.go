package model_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir/verify/internal/plant"
)

// Each machine is a test, and a target of the fuzzer, which steers it to new code.

func machine(check func(t *rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) { rapid.SyncTest(t, check) }
}

var (
	pools     = machine(func(t *rapid.T) { checkPool(t, plainPool) })
	funcPools = machine(func(t *rapid.T) { checkPool(t, funcPool) })
	groups    = machine(func(t *rapid.T) { checkPool(t, groupsOn) })
	ownGroups = machine(func(t *rapid.T) { checkPool(t, groupApart) })
	poolLanes = machine(func(t *rapid.T) { checkPool(t, lanes) })
	poolKeys  = machine(func(t *rapid.T) { checkPool(t, keys) })
	poolOnces = machine(func(t *rapid.T) { checkPool(t, onces) })
	timers    = machine(checkLater)
	retries   = machine(checkRetries)
	hedges    = machine(checkHedge)
	rates     = machine(checkRates)
)

func TestPoolDoesWhatItsModelDoes(t *testing.T)                { rapid.Check(t, pools) }
func TestFuncPoolDoesWhatItsModelDoes(t *testing.T)            { rapid.Check(t, funcPools) }
func TestGroupsDoWhatTheirModelDoes(t *testing.T)              { rapid.Check(t, groups) }
func TestGroupWithOwnWorkersDoesWhatItsModelDoes(t *testing.T) { rapid.Check(t, ownGroups) }
func TestLanesDoWhatTheirModelDoes(t *testing.T)               { rapid.Check(t, poolLanes) }
func TestKeyedDoesWhatItsModelDoes(t *testing.T)               { rapid.Check(t, poolKeys) }
func TestOnceDoesWhatItsModelDoes(t *testing.T)                { rapid.Check(t, poolOnces) }
func TestTimersDoWhatTheirModelDoes(t *testing.T)              { rapid.Check(t, timers) }
func TestRetriesDoWhatTheirModelDoes(t *testing.T)             { rapid.Check(t, retries) }
func TestHedgeDoesWhatItsModelDoes(t *testing.T)               { rapid.Check(t, hedges) }
func TestRatesDoWhatTheirModelDoes(t *testing.T)               { rapid.Check(t, rates) }

func FuzzPool(f *testing.F)     { f.Fuzz(rapid.MakeFuzz(pools)) }
func FuzzFuncPool(f *testing.F) { f.Fuzz(rapid.MakeFuzz(funcPools)) }
func FuzzGroups(f *testing.F)   { f.Fuzz(rapid.MakeFuzz(groups)) }
func FuzzOwnGroup(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ownGroups)) }
func FuzzLanes(f *testing.F)    { f.Fuzz(rapid.MakeFuzz(poolLanes)) }
func FuzzKeyed(f *testing.F)    { f.Fuzz(rapid.MakeFuzz(poolKeys)) }
func FuzzOnce(f *testing.F)     { f.Fuzz(rapid.MakeFuzz(poolOnces)) }

func TestEveryPlantedBugIsFound(t *testing.T) {
	checks := plant.Rapid("40", "400", "4000", "20000") // few first: most bugs are found soon
	for name, proof := range map[string]plant.Proof{
		// A pass of all machines at once would end by its limit before it comes to the last of them.
		"pools":  {Bugs: plant.Read("faces"), Limit: 2 * time.Minute, Args: []string{"-test.run=^Test(Pool|FuncPool)Does"}, More: checks},
		"groups": {Bugs: plant.Read("faces_groups"), Limit: 2 * time.Minute, Args: []string{"-test.run=^TestGroup"}, More: checks},
		"lanes": {
			Bugs: slices.Concat(plant.Read("faces_lanes", "faces_errands"), plant.Only(plant.LockFree(), // some are also the engine's
				"bid-not-told", "bids-not-gated", "lane-takes-full-pool", "lane-keeps-place",
				"closed-before-lanes", "bid-outlives-lane", "exit-drops-carried", "carrier-stays-idle")),
			Limit: 2 * time.Minute,
			Args:  []string{"-test.run=^Test(Pool|Lanes|Keyed|Once)Do(es)?What"},
			More:  checks,
		},
		"rates": {
			Bugs:  append(plant.Read("rates"), plant.Only(plant.Read("soak"), "tokens-granted-twice")...),
			Limit: time.Minute,
			Args:  []string{"-test.run=^TestRatesDoWhat", "-test.timeout=8s"},
			Also:  []plant.Place{{Folder: plant.Library, Args: []string{"-test.run=^Test(ALaneThatWaitsForAToken|ATokenForWhich|WhatATaskWaitsForNeeds)"}}},
			More:  plant.Rapid("1000", "8000", "8000", "8000", "8000"), // more programs at once would take longer than a hang
		},
		"later": {
			Bugs:  plant.Read("faces_later"),
			Limit: time.Minute,
			Args:  []string{"-test.run=^Test(Timers|Retries|Hedge)Do(es)?What"},
			More:  plant.Rapid("100", "1000", "10000"),
		},
	} {
		proof.Folder = "./model"
		t.Run(name, proof.Run)
	}
}
