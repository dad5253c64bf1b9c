package peer

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
