package weirotel

import (
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// durations is a weir.Histogram or an exporter.Histogram.
type durations interface {
	Count() uint64
	Sum() float64
	Buckets() iter.Seq2[int, uint64]
}

// scale is the scale of weir.Histogram. Its bucket i has the index i-1 in OpenTelemetry.
const scale = 2

// newPoint returns d as a data point. It has no zero bucket, as the shortest duration counts as one nanosecond.
func newPoint(d durations, attributes attribute.Set, start, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	p := metricdata.ExponentialHistogramDataPoint[float64]{
		Attributes: attributes, StartTime: start, Time: now, Count: d.Count(), Sum: d.Sum(), Scale: scale,
	}
	b := &p.PositiveBucket
	for bucket, n := range d.Buckets() {
		index := bucket - 1
		if len(b.Counts) == 0 {
			b.Offset, b.Counts = int32(index), make([]uint64, 0, 16)
		}
		empty := index - int(b.Offset) - len(b.Counts) // empty buckets between the last one and this one
		b.Counts = append(append(b.Counts, make([]uint64, empty)...), n)
	}
	return p
}
