package par_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// What a stream may have under way costs nothing before it is.
func TestALimitCostsNoMemory(t *testing.T) {
	for kind := range 4 {
		for _, opts := range [][]par.StreamOption{{par.Limit(weir.Unbounded)}, {par.Limit(1), par.Ahead(weir.Unbounded)}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := 0
			for got, err := range anyStream(t.Context(), kind, 100, same, opts...) {
				check.OK(t, err)
				check.Equal(t, "result", got, n)
				n++
			}
			check.Equal(t, "results", n, 100)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("a stream of 100 items took %d bytes", took)
			}
		}
	}
}

// Results wait behind a slow one in memory that grows with them, while the consumer is in
// the middle of what was ready before.
func TestResultsFarAheadKeepTheirOrder(t *testing.T) {
	const n, slow = 5000, 20
	for kind := range 4 {
		var calls atomic.Int64
		release := make(chan struct{})
		fn := func(_ context.Context, i int) (int, error) {
			if i%1000 == slow {
				<-release
			}
			if calls.Add(1) == n/5-1 {
				close(release) // all that may be ahead are there
			}
			return i, nil
		}
		next := 0
		for got, err := range anyStream(t.Context(), kind, n, fn, par.Limit(2), par.Ahead(n/5)) {
			check.OK(t, err)
			check.Equal(t, "result", got, next)
			next++
		}
		check.Equal(t, "results", next, n)
	}
}

// What the consumer has dropped is not kept alive by the stream: only what it has in hand, and
// what it has not taken yet.
func TestAStreamKeepsNothingAlive(t *testing.T) {
	type box struct{ _ [64]byte }
	const n = 20 // fewer than a stream has places for
	for _, unordered := range []bool{false, true} {
		var mu sync.Mutex
		var items [n]weak.Pointer[box]
		source := func(yield func(*box) bool) {
			for i := range n {
				b := new(box)
				mu.Lock()
				items[i] = weak.Make(b)
				mu.Unlock()
				if !yield(b) {
					return
				}
			}
		}
		opts := []par.StreamOption{par.Ahead(2 * n)}
		if unordered {
			opts = append(opts, par.Unordered())
		}
		taken := 0
		for _, err := range par.Stream(t.Context(), source, func(_ context.Context, b *box) (*box, error) { return b, nil }, opts...) {
			check.OK(t, err)
			if taken++; taken == n-4 {
				alive := 0
				if !check.Tries(1000, func() bool { // the calls may have returned, but not yet ended
					runtime.GC()
					alive = 0
					mu.Lock()
					defer mu.Unlock()
					for _, item := range items {
						if item.Value() != nil {
							alive++
						}
					}
					return alive <= 1+n-taken
				}) {
					t.Errorf("%d results are kept alive", alive)
				}
			}
		}
	}
}
