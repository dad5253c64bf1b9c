package peer

import "slices"

// Peers without a sort of their own use the same quicksort. Both parts become tasks, and parts shorter than
// divisible are sorted in place.

// divisible is the shortest length of a part that is worth two tasks.
const divisible = 1 << 12

// partition divides the items, at least two, into two parts that can be sorted separately (C. A. R. Hoare,
// "Algorithm 64: Quicksort", 1961). Between the parts there may be one item, which is in its final place.
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

// A fork runs two tasks and waits for both. It has no limit: with a limit shared by all forks, it would wait
// for itself.
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
