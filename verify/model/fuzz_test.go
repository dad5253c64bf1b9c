package model_test

import (
	"testing"

	"pgregory.net/rapid"
)

// The same machines, steered by what the fuzzer finds to reach new code.

func FuzzPool(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) { checkPool(t, false) })
	}))
}

func FuzzFuncPool(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) { checkPool(t, true) })
	}))
}

func FuzzGroups(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) { checkGroups(t, false) })
	}))
}

func FuzzNestedGroups(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) { checkGroups(t, true) })
	}))
}

func FuzzOwnGroup(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { rapid.SyncTest(t, checkOwnGroup) }))
}

func FuzzResults(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { rapid.SyncTest(t, checkResults) }))
}
