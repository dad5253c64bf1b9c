package weirotel

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// family is a metric whose data points are read from values of type T.
type family[T any] struct {
	Metric
	data func(m Metric, of []source[T], now time.Time) metricdata.Aggregation
}

// source is the thing that data points describe, such as one pool name or one queue.
type source[T any] struct {
	names []attribute.KeyValue // the first attributes; cap equals len, so that append copies
	set   attribute.Set        // names alone, as a set
	start time.Time
	value *T
}

func newSource[T any](families []family[T], start time.Time, value *T, names ...string) source[T] {
	list := make([]attribute.KeyValue, len(names))
	for i, name := range names {
		list[i] = attribute.String(families[0].Attributes[i], name)
	}
	return source[T]{list, attribute.NewSet(slices.Clone(list)...), start, value}
}

// part is one of the data points that a metric has for each source.
type part[T any, N int64 | float64] struct {
	value string // value of the last attribute, if the parts differ by it
	read  func(*T) N
}

// number returns a part that counts things.
func number[T any, N ~int | ~int64 | ~uint64](value string, read func(*T) N) part[T, int64] {
	return part[T, int64]{value, func(v *T) int64 { return int64(read(v)) }}
}

// duration returns a part in seconds.
func duration[T any](read func(*T) time.Duration) part[T, float64] {
	return part[T, float64]{read: func(v *T) float64 { return read(v).Seconds() }}
}

// counter describes a sum that never falls. It has one part without a value, or several parts that differ by
// the attribute key.
func counter[T any, N int64 | float64](name, unit, description, key string, parts ...part[T, N]) family[T] {
	return sum(Metric{Name: name, Type: "Counter", Unit: unit, Description: description}, key, parts)
}

// upDown describes a sum that may fall.
func upDown[T any, N int64 | float64](name, unit, description, key string, parts ...part[T, N]) family[T] {
	return sum(Metric{Name: name, Type: "UpDownCounter", Unit: unit, Description: description}, key, parts)
}

func sum[T any, N int64 | float64](m Metric, key string, parts []part[T, N]) family[T] {
	if key != "" {
		m.Attributes = []string{key}
	}
	return family[T]{m, func(m Metric, of []source[T], now time.Time) metricdata.Aggregation {
		return metricdata.Sum[N]{
			DataPoints: points(m, of, now, parts), Temporality: metricdata.CumulativeTemporality, IsMonotonic: m.Type == "Counter",
		}
	}}
}

// oldest describes a gauge of an age. A sum of ages would say nothing.
func oldest[T any](name, description string, read func(*T) time.Duration) family[T] {
	parts := []part[T, float64]{duration(read)}
	return family[T]{Metric{Name: name, Type: "Gauge", Unit: "s", Description: description}, func(m Metric, of []source[T], now time.Time) metricdata.Aggregation {
		return metricdata.Gauge[float64]{DataPoints: points(m, of, now, parts)}
	}}
}

// points returns the data points of m for the sources.
func points[T any, N int64 | float64](m Metric, of []source[T], now time.Time, parts []part[T, N]) []metricdata.DataPoint[N] {
	list := make([]metricdata.DataPoint[N], 0, len(of)*len(parts))
	for _, s := range of {
		for _, p := range parts {
			set := s.set
			if p.value != "" {
				set = attribute.NewSet(append(s.names, attribute.String(m.Attributes[len(s.names)], p.value))...)
			}
			list = append(list, metricdata.DataPoint[N]{Attributes: set, StartTime: s.start, Time: now, Value: p.read(s.value)})
		}
	}
	return list
}

// histogram describes a metric of durations.
func histogram[T any](name, description string, read func(*T) durations) family[T] {
	return family[T]{Metric{Name: name, Type: "Histogram", Unit: "s", Description: description}, func(_ Metric, of []source[T], now time.Time) metricdata.Aggregation {
		list := make([]metricdata.ExponentialHistogramDataPoint[float64], 0, len(of))
		for _, s := range of {
			list = append(list, newPoint(read(s.value), s.set, s.start, now))
		}
		return metricdata.ExponentialHistogram[float64]{DataPoints: list, Temporality: metricdata.CumulativeTemporality}
	}}
}

// named makes key the first attribute of all metrics.
func named[T any](key string, families ...family[T]) []family[T] {
	for i := range families {
		families[i].Attributes = slices.Insert(families[i].Attributes, 0, key)
	}
	return families
}

// appendMetrics adds the metrics of the sources to list, if there are any sources.
func appendMetrics[T any](list []metricdata.Metrics, families []family[T], of []source[T], now time.Time) []metricdata.Metrics {
	if len(of) == 0 {
		return list
	}
	for _, f := range families {
		list = append(list, metricdata.Metrics{Name: f.Name, Description: f.Description, Unit: f.Unit, Data: f.data(f.Metric, of, now)})
	}
	return list
}
