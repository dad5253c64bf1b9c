package weirprom

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/64ed045f/weir"
)

// times are what [weir.Times] of several sources add up to.
type times struct {
	wait, run durations
	oldest    time.Duration
}

// durations is a sum of histograms, as far as they have grown: no bucket ever falls.
type durations struct {
	first  int      // the number of the bucket that counts begins with
	counts []uint64 // of one bucket each
	sum    float64  // in seconds
}

// grow adds the growth of a histogram since last, and notes in last how large it is now.
func (d *durations) grow(last *durations, now weir.Histogram) {
	for i, count := range now.Buckets() {
		grow(d.at(i), last.at(i), count)
	}
	grow(&d.sum, &last.sum, now.Sum())
}

// grow adds to total by how much now is above last, and raises last to it.
func grow[N uint64 | float64](total, last *N, now N) {
	if now > *last {
		*total += now - *last
		*last = now
	}
}

// at returns the count of bucket i.
func (d *durations) at(i int) *uint64 {
	if len(d.counts) == 0 {
		d.first = i
	}
	if i < d.first {
		d.counts = slices.Insert(d.counts, 0, make([]uint64, d.first-i)...)
		d.first = i
	}
	if missing := i - d.first - len(d.counts) + 1; missing > 0 {
		d.counts = append(d.counts, make([]uint64, missing)...)
	}
	return &d.counts[i-d.first]
}

const (
	schema = 2 // that of weir.Histogram

	// The classic bounds are 4^lowest s to 4^highest s, each of which is a bound of the native buckets.
	lowest, highest = -9, 3
	perBound        = 2 << schema // native buckets in a classic one
)

// metric returns a copy of d as a histogram with native and classic buckets.
func (d *durations) metric(desc *prometheus.Desc, labels []string) prometheus.Metric {
	h := &dto.Histogram{
		SampleSum: new(d.sum), Schema: new(int32(schema)),
		ZeroThreshold: new(prometheus.DefNativeHistogramZeroThreshold), ZeroCount: new(uint64(0)), // marks it as native while it is empty
	}
	count, end, previous := uint64(0), 0, int64(0) // end is the bucket behind the last span
	bound := lowest
	classic := func(below int) { // adds the bounds below that bucket
		for ; bound <= highest && bound*perBound < below; bound++ {
			h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: new(math.Ldexp(1, 2*bound)), CumulativeCount: new(count)})
		}
	}
	for k, n := range d.counts {
		if n == 0 {
			continue
		}
		i := d.first + k
		classic(i)
		count += n
		if len(h.PositiveSpan) == 0 || i > end {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(int32(i - end)), Length: new(uint32(0))})
		}
		*h.PositiveSpan[len(h.PositiveSpan)-1].Length++
		h.PositiveDelta = append(h.PositiveDelta, int64(n)-previous)
		end, previous = i+1, int64(n)
	}
	classic(math.MaxInt)
	h.SampleCount = new(count)
	return &histogramMetric{desc, prometheus.MakeLabelPairs(desc, labels), h}
}

// histogramMetric is a histogram that does not change. Those of the client library have either native or classic buckets.
type histogramMetric struct {
	desc      *prometheus.Desc
	labels    []*dto.LabelPair
	histogram *dto.Histogram
}

// Desc returns what describes the metric.
func (m *histogramMetric) Desc() *prometheus.Desc { return m.desc }

// Write sets the labels and the histogram of out.
func (m *histogramMetric) Write(out *dto.Metric) error {
	out.Label, out.Histogram = m.labels, m.histogram
	return nil
}
