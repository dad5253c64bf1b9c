package par

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/64ed045f/weir/internal/share"
)

// sortable is the length from which sorting is worth helpers.
const sortable = 1 << 13

// Sort sorts items in ascending order, as [slices.Sort] does, NaNs first. It sorts one to two parts for each
// goroutine that computes, and merges them. It divides the merges, too, by the merge path of Odeh, Green,
// Mwassi, Shmueli and Birk ("Merge path: parallel merging made simple", 2012). Sort allocates as much memory
// again as the items take, and uses as many goroutines as [Range] does. The caller alone sorts in place fewer
// than 8192 items, or any number with a limit of 1 or on one processor.
func Sort[S ~[]E, E cmp.Ordered](items S, opts ...Option) {
	o := newOptions(opts)
	o.limit = min(o.limit, processors())
	if len(items) < sortable || o.limit == 1 {
		slices.Sort(items)
		return
	}
	sortParts(items, o, slices.Sort[[]E], cmp.Less[E], mergeOrdered[E])
}

// SortFunc is [Sort] in the order of compare, which must be a strict weak ordering, as [slices.SortFunc]
// needs it. The sort is not stable. Several goroutines call compare at once. If compare panics, SortFunc
// panics with a [*weir.Panic], or with the same value if the caller sorts in place (see [Sort]). After a
// panic, or if compare is no such order, the order of the items is undefined, but each item is still there
// once.
func SortFunc[S ~[]E, E any](items S, compare func(a, b E) int, opts ...Option) {
	mustFunction(compare != nil)
	o := newOptions(opts)
	o.limit = min(o.limit, processors())
	if len(items) < sortable || o.limit == 1 {
		slices.SortFunc(items, compare)
		return
	}
	sortParts(items, o,
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

// mergeOrdered merges the sorted a and b into to. Of equal items, those of a come first.
func mergeOrdered[E cmp.Ordered](to, a, b []E) {
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
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

// merger merges the sorted parts of from, which have the same width, into parts of twice that width in to.
type merger[E any] struct {
	from, to []E
	width    int   // a multiple of span, but the last part may be shorter
	cuts     []int // for each span of to: how many items before it, within its pair of parts, come from the first part
	less     func(a, b E) bool
	merge    func(to, a, b []E)
}

// span is how many items of to are merged in one step. Finding where a span begins takes two dozen
// comparisons.
const span = 1 << 10

// sortParts sorts at least as many parts as may be sorted at once, and less than twice as many. Then it
// merges neighbours until one part is left.
func sortParts[E any](items []E, o options, sort func([]E), less func(a, b E) bool, merge func(to, a, b []E)) {
	parts := 1 << bits.Len(uint(min(o.limit, len(items)/(sortable/2))-1))
	width := ((len(items)-1)/parts/span + 1) * span
	m := merger[E]{from: items, to: make([]E, len(items)), width: width, less: less, merge: merge}
	merges := bits.Len(uint((len(items) - 1) / width))
	divide(o, share.Run{Lo: 0, Hi: parts}, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part := m.part(i)
			sort(part)
			if merges%2 == 1 {
				copy(m.to[min(i*width, len(items)):], part)
			}
		}
	})
	if merges%2 == 1 {
		m.from, m.to = m.to, m.from // so that the last merge ends in items
	}
	defer func() {
		if merges > 0 && &m.to[0] == &items[0] {
			copy(items, m.from) // less has panicked: no item is lost
		}
	}()
	m.cuts = make([]int, (len(items)-1)/span+1)
	for range merges {
		m.mergePairs(o)
	}
}

// mergePairs merges all pairs of parts once, and makes the results the new parts.
func (m *merger[E]) mergePairs(o options) {
	spans := share.Run{Lo: 0, Hi: len(m.cuts)}
	divide(o, spans, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b, before := m.pair(i)
			m.cuts[i] = cut(a, b, before, m.less)
		}
	})
	// If less is no order, cuts may lie before those of the span to the left, or too far behind them.
	for i := 1; i < len(m.cuts); i++ {
		if _, _, before := m.pair(i); before > 0 {
			m.cuts[i] = min(max(m.cuts[i], m.cuts[i-1]), m.cuts[i-1]+span)
		}
	}
	divide(o, spans, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b, before := m.pair(i)
			first, end := m.cuts[i], len(a)
			to := m.to[i*span : min(i*span+span, len(m.to))]
			if before+len(to) < len(a)+len(b) {
				end = m.cuts[i+1]
			}
			m.merge(to, a[first:end], b[before-first:before+len(to)-end])
		}
	})
	m.from, m.to, m.width = m.to, m.from, 2*m.width
}

// pair returns the two parts that span i of to is merged from, and how many of their items come before the
// span.
func (m *merger[E]) pair(i int) (a, b []E, before int) {
	left := i * span / (2 * m.width) * 2
	return m.part(left), m.part(left + 1), i*span - left*m.width
}

// part returns part i of from.
func (m *merger[E]) part(i int) []E {
	n := len(m.from)
	return m.from[min(i*m.width, n):min((i+1)*m.width, n)]
}

// cut returns how many of the first k items of the merged a and b come from a.
func cut[E any](a, b []E, k int, less func(a, b E) bool) int {
	lo, hi := max(0, k-len(b)), min(k, len(a))
	for lo < hi {
		i := int(uint(lo+hi) >> 1)
		if less(b[k-i-1], a[i]) {
			hi = i
		} else {
			lo = i + 1
		}
	}
	return lo
}
