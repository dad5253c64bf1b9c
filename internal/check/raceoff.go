//go:build !race

package check

// Race says whether the race detector is on, which allocates and is slow.
const Race = false
