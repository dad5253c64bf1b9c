package par_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// skewed is how long an item takes when the last 1 % of 1000 take 99 % of the time.
func skewed(i int) time.Duration {
	if i < 990 {
		return time.Millisecond
	}
	return 99 * 99 * time.Millisecond
}

func total(of func(i int) time.Duration, n int) (sum time.Duration) {
	for i := range n {
		sum += of(i)
	}
	return sum
}

func TestSkewedWorkIsBalanced(t *testing.T) {
	const n, workers = 1000, 2
	whole := total(skewed, n)
	verify := func(t *testing.T, f func()) {
		t.Helper()
		begin := time.Now()
		f()
		// One of the ten long items may be left over for one of the two.
		if took, most := time.Since(begin), whole/workers+skewed(n-1); took > most {
			t.Errorf("took %v of %v, want at most %v", took, whole, most)
		}
	}
	each := func(_ context.Context, i int) error {
		time.Sleep(skewed(i))
		return nil
	}
	check.Bubble(t, "Each", func(t *testing.T) {
		verify(t, func() { check.OK(t, par.Each(t.Context(), upTo(n), each, par.Limit(workers))) })
	})
	check.Bubble(t, "Each on a pool", func(t *testing.T) {
		p := weir.New(workers)
		defer p.Close()
		verify(t, func() { check.OK(t, par.Each(t.Context(), upTo(n), each, par.Limit(8), par.On(p))) })
	})
	check.Bubble(t, "Range", func(t *testing.T) {
		verify(t, func() {
			par.Range(n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					time.Sleep(skewed(i))
				}
			}, par.Limit(workers))
		})
	})
	check.Bubble(t, "Reduce", func(t *testing.T) {
		verify(t, func() {
			sum, err := par.Reduce(t.Context(), upTo(n), func(_ context.Context, a, b int) (int, error) {
				time.Sleep(skewed(b % n))
				return a + b, nil
			}, par.Limit(workers))
			check.OK(t, err)
			check.Equal(t, "sum", sum, n*(n-1)/2)
		})
	})
}

// A worker claims many items at a time if they take no time at all. Of slow items that
// follow, no matter where, a claim must not keep more than the worker has begun.
func TestSlowItemsAmongQuickOnesAreShared(t *testing.T) {
	const n, slow, workers = 10_000, 40, 4
	for _, at := range []int{0, 1, 2000, 4990, 5000, 7777, n - slow} {
		check.Bubble(t, "", func(t *testing.T) {
			begin := time.Now()
			check.OK(t, par.Each(t.Context(), upTo(n), func(_ context.Context, i int) error {
				if i >= at && i < at+slow {
					time.Sleep(time.Second)
				}
				return nil
			}, par.Limit(workers)))
			if took, most := time.Since(begin), (slow/workers+3)*time.Second; took > most {
				t.Errorf("from %d on: took %v, want at most %v", at, took, most)
			}
		})
	}
}

func TestRangeSharesSlowIndicesAtTheEnd(t *testing.T) {
	for name, begin := range map[string]time.Duration{"found out alone": 0, "found out together": time.Millisecond} {
		check.Bubble(t, name, func(t *testing.T) {
			const n, slow, workers = 10_000, 40, 4
			start := time.Now()
			par.Range(n, func(lo, hi int) {
				if lo == 0 {
					time.Sleep(begin)
				}
				for i := max(lo, n-slow); i < hi; i++ {
					time.Sleep(time.Second)
				}
			}, par.Limit(workers))
			// A quarter of them, at most, is gone when it shows that they are slow.
			if took, most := time.Since(start), (slow/4+slow*3/4/workers+2)*time.Second; took > most {
				t.Errorf("took %v, want at most %v", took, most)
			}
		})
	}
}

func TestRangeMakesCallsForSingleIndicesWhenTheyAreSlow(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		const n, workers = 10_000, 4
		var long atomic.Int32
		par.Range(n, func(lo, hi int) {
			switch {
			case lo == 0:
				time.Sleep(time.Millisecond)
			case lo >= n/2:
				time.Sleep(time.Duration(hi-lo) * time.Second)
				if hi-lo > 1 {
					long.Add(1)
				}
			}
		}, par.Limit(workers))
		if got := long.Load(); got > workers {
			t.Errorf("%d calls for more than one slow index, want one for each of %d at most", got, workers)
		}
	})
}

// A helper that finds nothing to do does not keep a worker of a pool.
func TestIdleHelpersLeaveThePoolToOthers(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		others := make(chan time.Time, 3)
		begin := time.Now()
		time.AfterFunc(2*time.Second, func() {
			for range cap(others) {
				check.OK(t, p.Submit(func() { others <- time.Now() }))
			}
		})
		check.OK(t, par.Each(t.Context(), upTo(4), func(_ context.Context, i int) error {
			if i == 0 {
				time.Sleep(time.Hour)
			}
			time.Sleep(time.Second)
			return nil
		}, par.On(p), par.Limit(4)))
		for range cap(others) {
			check.Equal(t, "another task ran after", (<-others).Sub(begin), 2*time.Second)
		}
	})
}
