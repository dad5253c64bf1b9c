//go:build race

package weir_test

// raceEnabled: the race detector allocates where the program does not.
const raceEnabled = true
