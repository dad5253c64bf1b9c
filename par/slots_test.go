package par_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
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
				ok(t, err)
				equal(t, "result", got, n)
				n++
			}
			equal(t, "results", n, 100)
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
			ok(t, err)
			equal(t, "result", got, next)
			next++
		}
		equal(t, "results", next, n)
	}
}
