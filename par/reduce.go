package par

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/share"
)

// Reduce combines all items into one. It calls combine with two neighbours, each an item or the result of an
// earlier call, until one value is left. combine must be associative, as + is. It need not be commutative:
// argument a always comes from items before those of b. Reduce returns the zero value for no items, and a
// single item as it is.
//
// Reduce divides the calls as [Each] does. Then one goroutine combines the results of all goroutines, from
// left to right. The first error ends Reduce; it carries the index of the item with which b begins. Reduce
// first reads a source that is not a slice to its end.
func Reduce[T any, S Source[T]](ctx context.Context, items S, combine func(ctx context.Context, a, b T) (T, error), opts ...Option) (T, error) {
	mustContext(ctx != nil)
	mustFunction(combine != nil)
	o := newOptions(opts)
	o.keepGoing = false
	call := measuredReduce(o.meter, combine)
	var none T
	all, from := open[T](items)
	if from != nil {
		var err error
		if all, err = collected(ctx, from); err != nil {
			return none, err
		}
	}
	if len(all) == 0 {
		return none, outerCause(ctx)
	}
	parts, err := fold(ctx, &o, len(all), func(i int) part[T] { return part[T]{lo: i, hi: i + 1, value: all[i]} }, call)
	if err == nil && len(parts) > 1 {
		o.limit = 1 // one goroutine, from left to right
		parts, err = fold(ctx, &o, len(parts), func(i int) part[T] { return *parts[i] }, call)
	}
	if err != nil {
		return none, err
	}
	return parts[0].value, nil
}

// collected reads a sequence to its end.
func collected[T any](ctx context.Context, from pull[T]) (items []T, err error) {
	from(ctx, func(item T, failure error) bool {
		if failure != nil {
			err = failure
			return false
		}
		items = append(items, item)
		return ctx.Err() == nil
	})
	return items, cmp.Or(err, outerCause(ctx))
}

// part is the combined value of the items from lo up to, not including, hi.
type part[T any] struct {
	chain  race.Past // the calls that made the value
	lo, hi int
	value  T
}

// fold has each worker combine the parts that it finds next to each other, of n parts, and returns the
// results in order.
func fold[T any](ctx context.Context, o *options, n int, at func(i int) part[T], combine func(ctx context.Context, a, b T) (T, error)) ([]*part[T], error) {
	var mu sync.Mutex
	var parts []*part[T]
	// Each worker has a share of its own, so that its items are neighbours. With more than √n shares, more
	// parts would be left to combine one by one than a share has items.
	o.limit = min(o.limit, max(processors(), int(math.Sqrt(float64(n)))))
	l := newLoop(ctx, o, n, o.limit, itemSpan)
	var calls *racedCalls
	if race.Enabled {
		calls = newRacedCalls(o)
		defer calls.ended.Acquire()
	}
	l.body = func(w *worker, r share.Run) int {
		sum, _ := w.state.(*part[T])
		for i := r.Lo; i < r.Hi; i++ {
			if w.signal.Load() != 0 && w.interrupted(i) {
				return i
			}
			next := at(i)
			if sum == nil || sum.hi != next.lo {
				sum = new(part[T])
				*sum = next
				w.state = sum
				mu.Lock()
				parts = append(parts, sum)
				mu.Unlock()
				continue
			}
			w.at = next.lo
			var value T
			var err error
			if race.Enabled {
				value, err = (&racedCombine[T]{combine, w.ctx, &sum.chain, sum.value, next.value}).in(calls)
			} else {
				value, err = combine(w.ctx, sum.value, next.value)
			}
			if err != nil {
				w.fail(err)
				return i
			}
			sum.value, sum.hi = value, next.hi
		}
		return r.Hi
	}
	err := l.do()
	slices.SortFunc(parts, func(x, y *part[T]) int { return cmp.Compare(x.lo, y.lo) })
	return parts, err
}
