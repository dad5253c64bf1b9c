package peer

import "slices"

// Where nothing sorts by itself the peers sort by the same quicksort: both parts are
// tasks, and parts shorter than divisible are sorted in place.

// divisible is the length from which on a part is worth two tasks.
const divisible = 1 << 12

// partition divides the items, of which there must be at least two, in two parts that can be
// sorted by themselves (C. A. R. Hoare, "Algorithm 64: Quicksort", 1961). Between
// them there may be one item, which is in its place.
func partition(items []int) (low, high []int) {
	pivot, lo, hi := items[len(items)/2], 0, len(items)-1
	for lo <= hi {
		for items[lo] < pivot {
			lo++
		}
		for items[hi] > pivot {
			hi--
		}
		if lo <= hi {
			items[lo], items[hi] = items[hi], items[lo]
			lo++
			hi--
		}
	}
	return items[:hi+1], items[lo:]
}

// A fork runs two tasks and waits for both. It has no limit: one that all forks share
// would wait for itself.
type fork func(f, g func())

func (both fork) sort(items []int) {
	if len(items) < divisible {
		slices.Sort(items)
		return
	}
	low, high := partition(items)
	both(func() { both.sort(low) }, func() { both.sort(high) })
}

func (both fork) fibonacci(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	both(func() { x = both.fibonacci(n - 1) }, func() { y = both.fibonacci(n - 2) })
	return x + y
}
