package weirprom_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/64ed045f/weir"
)

// native decodes the buckets of a native histogram.
func native(h *dto.Histogram) map[int]uint64 {
	counts := make(map[int]uint64)
	at, count, deltas := 0, int64(0), h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		at += int(span.GetOffset())
		for range span.GetLength() {
			count += deltas[0]
			counts[at] = uint64(count)
			at, deltas = at+1, deltas[1:]
		}
	}
	return counts
}

// quantile returns that of a native histogram, interpolated in proportion within a bucket.
func quantile(h *dto.Histogram, q float64) float64 {
	counts := native(h)
	rank, last := q*float64(h.GetSampleCount()), 0.0
	for i := -1000; i < 1000; i++ {
		n := float64(counts[i])
		if n > 0 && rank <= n {
			return math.Exp2((float64(i-1) + rank/n) / 4)
		}
		if n > 0 {
			rank, last = rank-n, math.Exp2(float64(i)/4)
		}
	}
	return last
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-8*math.Abs(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// same fails the test unless got says what want does, in both forms.
func same(t *testing.T, what string, got *dto.Histogram, want weir.Histogram) {
	t.Helper()
	equal(t, "count of "+what, got.GetSampleCount(), want.Count())
	near(t, "sum of "+what, got.GetSampleSum(), want.Sum())
	equal(t, "schema of "+what, got.GetSchema(), 2)
	counts := maps.Collect(want.Buckets())
	if !maps.Equal(native(got), counts) {
		t.Errorf("native buckets of %s: got %v, want %v", what, native(got), counts)
	}
	for _, b := range got.GetBucket() {
		var below uint64
		for i, n := range counts {
			if math.Exp2(float64(i)/4) <= b.GetUpperBound() {
				below += n
			}
		}
		equal(t, "classic bucket of "+what, b.GetCumulativeCount(), below)
	}
	equal(t, "classic buckets of "+what, len(got.GetBucket()), 13)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 1} {
		if d := quantile(got, q) - want.Quantile(q).Seconds(); math.Abs(d) > 2e-9 { // a quantile of weir is a whole number of nanoseconds
			t.Errorf("quantile %v of %s: it is off by %v s", q, what, d)
		}
	}
}

func TestHistogramsHaveTheBucketsOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, weir.Name("histograms"), weir.Measure(1), weir.Queue(weir.Unbounded))
		s := newScraper(named("histograms"))
		random := rand.New(rand.NewPCG(1, 2))
		for range 5 { // each look adds to the last
			for range 200 {
				d := time.Duration(math.Exp2(40 * random.Float64())) // up to 18 minutes
				noError(t, p.Submit(func() { time.Sleep(d) }))
			}
			p.Wait()
			synctest.Wait()
			series := s.scrape(t)
			same(t, "waits", series["weir_pool_wait_seconds histograms"].GetHistogram(), p.Times().Wait)
			same(t, "runs", series["weir_pool_run_seconds histograms"].GetHistogram(), p.Times().Run)
		}
		p.Close()
	})
}

func TestAnEmptyHistogramIsANativeOne(t *testing.T) {
	p := weir.New(1, weir.Name("unmeasured"), weir.Measure(0))
	defer p.Close()
	run(t, p, 1)
	h := newScraper(named("unmeasured")).scrape(t)["weir_pool_run_seconds unmeasured"].GetHistogram()
	equal(t, "count", h.GetSampleCount(), 0)
	equal(t, "classic buckets", len(h.GetBucket()), 13)
	if h.Schema == nil || h.GetZeroThreshold() <= 0 { // scrapers look at the threshold
		t.Errorf("%v has no sign of a native histogram", h)
	}
}
