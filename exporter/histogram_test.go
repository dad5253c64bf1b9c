package exporter_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/check"
)

func TestHistogramsOfPoolsAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := exporter.NewPools(named("histograms"))
		var list [3]*weir.Pool
		for i := range list {
			list[i] = weir.New(4, weir.Name("histograms"), weir.Measure(1), weir.Queue(weir.Unbounded))
		}
		random := rand.New(rand.NewPCG(1, 2))
		for round := range 5 { // each look adds to the last
			for i := range 300 {
				exponent := 40 - 8*float64(round) // up to 18 minutes first, then less, so that lower buckets come last
				d := time.Duration(math.Exp2(exponent * random.Float64()))
				check.OK(t, list[i%3].Submit(func() { time.Sleep(d) }))
			}
			waits, runs := make(map[int]uint64), make(map[int]uint64)
			var wait, run float64
			for _, p := range list {
				p.Wait()
				times := p.Times()
				wait += times.Wait.Sum()
				run += times.Run.Sum()
				for i, n := range times.Wait.Buckets() {
					waits[i] += n
				}
				for i, n := range times.Run.Buckets() {
					runs[i] += n
				}
			}
			got := one(t, pools)
			same(t, "waits", got.Wait, waits, wait)
			same(t, "runs", got.Run, runs, run)
			seen := 0
			for range got.Run.Buckets() {
				if seen++; seen == 2 {
					break
				}
			}
		}
		for _, p := range list {
			p.Close()
		}
	})
}

func same(t *testing.T, what string, got exporter.Histogram, want map[int]uint64, sum float64) {
	t.Helper()
	if !maps.Equal(maps.Collect(got.Buckets()), want) {
		t.Errorf("%s: got %v, want %v", what, maps.Collect(got.Buckets()), want)
	}
	var count uint64
	last := math.MinInt
	for i, n := range got.Buckets() {
		count += n
		check.Equal(t, what+" ascend", i > last, true)
		last = i
	}
	check.Equal(t, "count of "+what, got.Count(), count)
	if math.Abs(got.Sum()-sum) > 1e-9*sum {
		t.Errorf("sum of %s: got %v, want %v", what, got.Sum(), sum)
	}
}
