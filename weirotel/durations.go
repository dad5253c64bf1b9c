package weirotel

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/64ed045f/weir"
)

// times are what [weir.Times] of several things add up to.
type times struct {
	wait, run durations
	oldest    time.Duration
}

func newTimes(of weir.Times) *times {
	t := &times{oldest: of.Oldest}
	t.wait.grow(new(durations), of.Wait)
	t.run.grow(new(durations), of.Run)
	return t
}

// durations are histograms that are added up. No count ever falls.
type durations struct {
	first  int      // the number of the bucket that counts begins with
	counts []uint64 // of the buckets
	sum    float64  // in seconds
}

// grow adds what a histogram has gained since it was last, and sets last to it.
func (d *durations) grow(last *durations, now weir.Histogram) {
	for bucket, count := range now.Buckets() {
		grow(d.at(bucket), last.at(bucket), count)
	}
	grow(&d.sum, &last.sum, now.Sum())
}

// grow adds what a count has gained since its highest value, and raises that.
func grow[N uint64 | float64](total, highest *N, now N) {
	if now > *highest {
		*total += now - *highest
		*highest = now
	}
}

// at returns the count of the bucket, for which it makes room.
func (d *durations) at(bucket int) *uint64 {
	if len(d.counts) == 0 {
		d.first = bucket
	}
	if before := d.first - bucket; before > 0 {
		d.counts = slices.Insert(d.counts, 0, make([]uint64, before)...)
		d.first = bucket
	}
	if after := bucket - d.first + 1 - len(d.counts); after > 0 {
		d.counts = append(d.counts, make([]uint64, after)...)
	}
	return &d.counts[bucket-d.first]
}

// scale is that of weir.Histogram, whose bucket i has the index i-1 in OpenTelemetry.
const scale = 2

// point returns a copy of d as a data point. There is no bucket of zero, as the shortest duration counts as a nanosecond.
func (d *durations) point(attributes attribute.Set, start, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	p := metricdata.ExponentialHistogramDataPoint[float64]{Attributes: attributes, StartTime: start, Time: now, Sum: d.sum, Scale: scale}
	for _, n := range d.counts {
		p.Count += n
	}
	if len(d.counts) > 0 {
		p.PositiveBucket = metricdata.ExponentialBucket{Offset: int32(d.first - 1), Counts: slices.Clone(d.counts)}
	}
	return p
}
