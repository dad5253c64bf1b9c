package model_test

import (
	"testing"

	"pgregory.net/rapid"
)

// Each machine is a test, and a target of the fuzzer, which steers it to new code.

func machine(check func(t *rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) { rapid.SyncTest(t, check) }
}

var (
	pools     = machine(func(t *rapid.T) { checkPool(t, plainPool) })
	funcPools = machine(func(t *rapid.T) { checkPool(t, funcPool) })
	groups    = machine(checkGroups)
	ownGroups = machine(checkOwnGroup)
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
