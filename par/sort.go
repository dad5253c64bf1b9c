package par

import (
	"cmp"
	"math/bits"
	"slices"
)

// sortable is the length from which on sorting is worth helpers.
const sortable = 1 << 13

// Sort sorts items in ascending order, as [slices.Sort] does, NaNs first. It sorts about as
// many parts as the [Limit], up to twice that, and merges them; the merges are divided, too
// (by the merge path of Odeh, Green, Mwassi, Shmueli and Birk, "Merge path: parallel merging
// made simple", 2012). For that it allocates as much memory again as the items take, and takes
// as many goroutines as [Range] does. Fewer than 8192 items, or any number with a limit of
// 1, are sorted in place, by the caller.
func Sort[S ~[]E, E cmp.Ordered](items S, opts ...Option) {
	o := newOptions(opts)
	if len(items) < sortable || o.limit == 1 {
		slices.Sort(items)
		return
	}
	sortParts(items, &o, slices.Sort[[]E], cmp.Less[E], mergeOrdered[E])
}

// SortFunc is [Sort] in the order that compare gives, which must be one that
// [slices.SortFunc] takes. It is not stable. compare is called by several goroutines at
// once. If it panics, SortFunc panics with a [*weir.Panic], or, where it has sorted in place
// (see [Sort]), with the same value; the items are then in no certain order, some perhaps
// twice.
func SortFunc[S ~[]E, E any](items S, compare func(a, b E) int, opts ...Option) {
	mustFunction(compare != nil)
	o := newOptions(opts)
	if len(items) < sortable || o.limit == 1 {
		slices.SortFunc(items, compare)
		return
	}
	sortParts(items, &o,
		func(part []E) { slices.SortFunc(part, compare) },
		func(a, b E) bool { return compare(a, b) < 0 },
		func(to, a, b []E) {
			for k := range to {
				if len(b) == 0 || len(a) > 0 && compare(b[0], a[0]) >= 0 {
					to[k], a = a[0], a[1:]
				} else {
					to[k], b = b[0], b[1:]
				}
			}
		})
}

// mergeOrdered fills to with the first of a and b, which are in order; of equal ones
// those of a come first.
func mergeOrdered[E cmp.Ordered](to, a, b []E) {
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) && k < len(to) {
		x, y := a[i], b[j]
		if cmp.Less(y, x) {
			to[k] = y
			j++
		} else {
			to[k] = x
			i++
		}
		k++
	}
	k += copy(to[k:], a[i:])
	copy(to[k:], b[j:])
}

// sortParts sorts as many parts as shall be sorted at once, or twice as many, and then
// merges neighbours until one part is left.
func sortParts[E any](items []E, o *options, sort func([]E), less func(a, b E) bool, merge func(to, a, b []E)) {
	levels := bits.Len(uint(min(o.limit, len(items)/(sortable/2)) - 1))
	width := (len(items)-1)>>levels + 1 // of a part, but for the last, or the last ones
	part := func(s []E, i, width int) []E {
		return s[min(i*width, len(s)):min((i+1)*width, len(s))]
	}
	to, from := items, make([]E, len(items))
	if levels%2 == 0 {
		to, from = from, to
	}
	divide(*o, run{0, 1 << levels}, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sorted := part(items, i, width)
			sort(sorted)
			if levels%2 == 1 {
				copy(part(from, i, width), sorted)
			}
		}
	})
	for ; width < len(items); width *= 2 {
		divide(*o, run{0, len(items)}, 1<<10, func(lo, hi int) {
			for lo < hi {
				pair := lo / (2 * width)
				a, b := part(from, 2*pair, width), part(from, 2*pair+1, width)
				start := pair * 2 * width
				end := min(hi, start+len(a)+len(b))
				i, j := split(a, b, lo-start, less)
				merge(to[lo:end], a[i:], b[j:])
				lo = end
			}
		})
		to, from = from, to
	}
}

// split finds how many of the first k items of a and b merged come from each.
func split[E any](a, b []E, k int, less func(a, b E) bool) (i, j int) {
	lo, hi := max(0, k-len(b)), min(k, len(a))
	for lo < hi {
		i := int(uint(lo+hi) >> 1)
		if less(b[k-i-1], a[i]) {
			hi = i
		} else {
			lo = i + 1
		}
	}
	return lo, k - lo
}
