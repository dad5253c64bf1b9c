package weirprom

import (
	"iter"
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// durations is a weir.Histogram or an exporter.Histogram.
type durations interface {
	Sum() float64
	Buckets() iter.Seq2[int, uint64]
}

const (
	schema = 2 // the schema of weir.Histogram

	// The classic bounds are 4^lowest s to 4^highest s. Each is a bound of the native buckets.
	lowest, highest = -9, 3
	perBound        = 2 << schema // native buckets in a classic bucket
)

// newHistogram returns d as a histogram with native and classic buckets.
func newHistogram(desc *prometheus.Desc, labels []string, d durations) prometheus.Metric {
	h := &dto.Histogram{
		SampleSum: new(d.Sum()), Schema: new(int32(schema)),
		ZeroThreshold: new(prometheus.DefNativeHistogramZeroThreshold), ZeroCount: new(uint64(0)), // marks an empty histogram as native
	}
	count, end, previous := uint64(0), 0, int64(0) // end is the bucket after the last span
	bound := lowest
	classic := func(below int) { // adds the classic bounds below that bucket
		for ; bound <= highest && bound*perBound < below; bound++ {
			h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: new(math.Ldexp(1, 2*bound)), CumulativeCount: new(count)})
		}
	}
	for i, n := range d.Buckets() {
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

// histogramMetric is a constant histogram. The constant histograms of the client library have either native
// or classic buckets.
type histogramMetric struct {
	desc      *prometheus.Desc
	labels    []*dto.LabelPair
	histogram *dto.Histogram
}

// Desc returns the descriptor of the metric.
func (m *histogramMetric) Desc() *prometheus.Desc { return m.desc }

// Write sets the labels and the histogram of out.
func (m *histogramMetric) Write(out *dto.Metric) error {
	out.Label, out.Histogram = m.labels, m.histogram
	return nil
}
