package par

import (
	"context"
	"time"

	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/share"
)

// itemSpan is how long the items of one claim should take together. Other workers cannot take items that are
// claimed, so itemSpan is only as long as needed to pay for the 100 ns that a claim costs.
const itemSpan = 4 * time.Microsecond

// Each calls fn for each item, at most [Limit] calls at once. The package documentation says what all loops
// have in common: errors, contexts, panics, and where fn runs.
//
// Each divides the items of a slice among its goroutines, and divides them again whenever a goroutine has
// none left. Each goroutine goes through its part in order, so items do not start in the order of the slice.
// If items take less than 2 µs, a goroutine takes several at a time, for about 4 µs. So a call must not wait
// for the call of another item, which may be the next one of its own goroutine. The caller reads any
// other source, and starts the calls in order: each as soon as there is an item and fewer than the limit run.
func Each[T any, S Source[T]](ctx context.Context, items S, fn func(context.Context, T) error, opts ...Option) error {
	mustContext(ctx != nil)
	mustFunction(fn != nil)
	o := newOptions(opts)
	return each(ctx, &o, items, prepareEach(&o, fn))
}

func each[T any, S Source[T]](ctx context.Context, o *options, items S, fn func(context.Context, T) error) error {
	all, from := open[T](items)
	if from != nil {
		return pulled(ctx, o, from, func(item T) func(context.Context) error {
			return func(ctx context.Context) error { return fn(ctx, item) }
		})
	}
	if len(all) == 0 {
		return outerCause(ctx)
	}
	if o.paced(ctx) {
		return singly(ctx, o, len(all), func(ctx context.Context, i int) error { return fn(ctx, all[i]) })
	}
	l := newLoop(ctx, o, len(all), processors(), itemSpan)
	if race.Enabled {
		racedFn, over := raced(l, fn)
		defer over()
		fn = racedFn
	}
	l.body = func(w *worker, r share.Run) int {
		ctx, fn, signal := w.ctx, fn, w.signal
		for i, item := range all[r.Lo:r.Hi] {
			i += r.Lo
			if signal.Load() != 0 && w.interrupted(i) {
				return i
			}
			w.at = i
			if err := fn(ctx, item); err != nil && !w.fail(err) {
				return i
			}
		}
		return r.Hi
	}
	return l.do()
}

// indices is Each for the numbers from 0 to n.
func indices(ctx context.Context, o *options, n int, fn func(ctx context.Context, i int) error) error {
	if n == 0 {
		return outerCause(ctx)
	}
	if o.paced(ctx) {
		return singly(ctx, o, n, fn)
	}
	l := newLoop(ctx, o, n, processors(), itemSpan)
	if race.Enabled {
		racedFn, over := raced(l, fn)
		defer over()
		fn = racedFn
	}
	l.body = func(w *worker, r share.Run) int {
		for i := r.Lo; i < r.Hi; i++ {
			if w.signal.Load() != 0 && w.interrupted(i) {
				return i
			}
			w.at = i
			if err := fn(w.ctx, i); err != nil && !w.fail(err) {
				return i
			}
		}
		return r.Hi
	}
	return l.do()
}

// singly is indices with a task for each number.
func singly(ctx context.Context, o *options, n int, fn func(ctx context.Context, i int) error) error {
	numbers := func(_ context.Context, yield func(int, error) bool) {
		for i := 0; i < n && yield(i, nil); i++ {
		}
	}
	return pulled(ctx, o, numbers, func(i int) func(context.Context) error {
		return func(ctx context.Context) error { return fn(ctx, i) }
	})
}

// Map calls fn for each item, as [Each] does, and returns the results in the order of the items. If Map
// fails, it returns the results together with the error. There is one result for each item of a slice, or for
// each item and error that was read from another source. The result is what fn returned, even if fn failed;
// it is the zero value if fn was not called or did not return.
func Map[T, R any, S Source[T]](ctx context.Context, items S, fn func(context.Context, T) (R, error), opts ...Option) ([]R, error) {
	mustContext(ctx != nil)
	mustFunction(fn != nil)
	o := newOptions(opts)
	call := prepare(&o, fn)
	all, from := open[T](items)
	if from == nil {
		results := make([]R, len(all))
		err := indices(ctx, &o, len(all), func(ctx context.Context, i int) error {
			result, err := call(ctx, all[i])
			results[i] = result
			return err
		})
		return results, err
	}
	var results list[R]
	err := pulled(ctx, &o, from, func(item T) func(context.Context) error {
		place := results.add()
		return func(ctx context.Context) error {
			result, err := call(ctx, item)
			*place = result
			return err
		}
	})
	return results.slice(), err
}

// Filter calls keep for each item, as [Each] does, and returns, in order, the items for which keep returns
// true. If Filter fails, it returns the items kept until then together with the error.
func Filter[T any, S Source[T]](ctx context.Context, items S, keep func(context.Context, T) (bool, error), opts ...Option) ([]T, error) {
	mustContext(ctx != nil)
	mustFunction(keep != nil)
	o := newOptions(opts)
	call := prepare(&o, keep)
	all, from := open[T](items)
	if from == nil {
		kept := make([]bool, len(all))
		err := indices(ctx, &o, len(all), func(ctx context.Context, i int) error {
			ok, err := call(ctx, all[i])
			kept[i] = ok && err == nil
			return err
		})
		return pick(all, kept), err
	}
	type candidate struct {
		item T
		kept bool
	}
	var candidates list[candidate]
	err := pulled(ctx, &o, from, func(item T) func(context.Context) error {
		c := candidates.add()
		c.item = item
		return func(ctx context.Context) error {
			ok, err := call(ctx, item)
			c.kept = ok && err == nil
			return err
		}
	})
	var result []T
	for _, part := range candidates.parts {
		for _, c := range part {
			if c.kept {
				result = append(result, c.item)
			}
		}
	}
	return result, err
}

// pick returns the items whose element of kept is true.
func pick[T any](items []T, kept []bool) []T {
	n := 0
	for _, ok := range kept {
		if ok {
			n++
		}
	}
	result := make([]T, 0, n)
	for i, ok := range kept {
		if ok {
			result = append(result, items[i])
		}
	}
	return result
}
