//go:build race

package reuse_test

// raceEnabled: the race detector allocates, and a sync.Pool drops objects by chance.
const raceEnabled = true
