//go:build !race

package weir_test

const raceEnabled = false
