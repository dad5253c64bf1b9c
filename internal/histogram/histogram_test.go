package histogram_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/histogram"
)

func TestADurationIsBetweenTheBoundsOfItsBucket(t *testing.T) {
	try := func(d time.Duration) {
		t.Helper()
		i := histogram.Bucket(d)
		// A bound is no whole number of nanoseconds: a duration is never on one, except by rounding.
		if s := float64(d) * 1e-9; s > histogram.Bound(i)*(1+1e-12) || s < histogram.Bound(i-1)*(1-1e-12) {
			t.Errorf("%d ns: bucket %d, which ends at %g s", d, i, histogram.Bound(i))
		}
	}
	for d := range time.Duration(10_000) {
		try(d + 1)
	}
	for range 100_000 {
		try(time.Duration(rand.Int64()>>rand.IntN(63) | 1))
	}
	try(math.MaxInt64)
	check.Equal(t, "bucket of a second", histogram.Bucket(time.Second), 0)
	check.Equal(t, "of a nanosecond more", histogram.Bucket(time.Second+1), 1)
	check.Equal(t, "of nothing", histogram.Bucket(0), histogram.Bucket(1))
	check.Equal(t, "of less", histogram.Bucket(math.MinInt64), histogram.Bucket(1))
}

func TestWhatIsAddedIsCounted(t *testing.T) {
	var c histogram.Counter
	_, counts, sum := c.Counts()
	check.Equal(t, "buckets of nothing", len(counts), 0)
	check.Equal(t, "sum of nothing", sum, 0)

	durations := []time.Duration{1, 30, 31, time.Microsecond, time.Second, math.MaxInt64}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for range 10 {
				for _, d := range durations {
					c.Add(d, 3)
				}
			}
		})
	}
	users.Wait()
	const times = 4 * 10 * 3
	first, counts, sum := c.Counts()
	want := make([]uint64, histogram.Bucket(slices.Max(durations))-histogram.Bucket(1)+1)
	var total float64
	for _, d := range durations {
		want[histogram.Bucket(d)-first] += times
		total += times * d.Seconds()
	}
	check.Equal(t, "first", first, histogram.Bucket(1))
	if math.Abs(sum-total) > 1e-6*total {
		t.Errorf("the sum is %g s, want %g", sum, total)
	}
	if !slices.Equal(counts, want) {
		t.Errorf("got %d, want %d", counts, want)
	}
}
