package weirprom

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// family is a metric whose values are read from a T.
type family[T any] struct {
	Metric
	kind  prometheus.ValueType
	parts []series[T]
	read  func(v *T) durations // for a histogram, which has no series
}

// series is a part of a family.
type series[T any] struct {
	label string // value of the label that distinguishes the series; "" if the family has no such label
	read  func(v *T) float64
}

type number interface {
	~int | ~int64 | ~uint64 | ~float64
}

func gauge[T any, N number](name, help string, read func(*T) N) family[T] {
	return family[T]{Metric{Name: name, Type: "gauge", Help: help}, prometheus.GaugeValue, []series[T]{part("", read)}, nil}
}

func gaugeBy[T any](label, name, help string, parts ...series[T]) family[T] {
	return family[T]{Metric{Name: name, Type: "gauge", Help: help, Labels: []string{label}}, prometheus.GaugeValue, parts, nil}
}

func counter[T any, N number](name, help string, read func(*T) N) family[T] {
	return family[T]{Metric{Name: name, Type: "counter", Help: help}, prometheus.CounterValue, []series[T]{part("", read)}, nil}
}

func counterBy[T any](label, name, help string, parts ...series[T]) family[T] {
	return family[T]{Metric{Name: name, Type: "counter", Help: help, Labels: []string{label}}, prometheus.CounterValue, parts, nil}
}

// part returns the series of a gauge or counter with that value of its label.
func part[T any, N number](label string, read func(*T) N) series[T] {
	return series[T]{label, func(v *T) float64 { return float64(read(v)) }}
}

// age is a gauge of an age. It is never below 0, even if a pool of a test bubble has another clock than a
// collector outside.
func age[T any](name, help string, read func(*T) time.Duration) family[T] {
	f := gauge(name, help, func(v *T) float64 { return max(0, read(v).Seconds()) })
	f.Unit = "seconds"
	return f
}

// spent is a counter of seconds.
func spent[T any](name, help string, read func(*T) time.Duration) family[T] {
	f := counter(name, help, func(v *T) float64 { return read(v).Seconds() })
	f.Unit = "seconds"
	return f
}

func histogram[T any](name, help string, read func(*T) durations) family[T] {
	return family[T]{Metric: Metric{Name: name, Type: "histogram", Unit: "seconds", Help: help}, read: read}
}

// of makes label the first label of the families.
func of[T any](label string, families ...family[T]) []family[T] {
	for i := range families {
		families[i].Labels = append([]string{label}, families[i].Labels...)
	}
	return families
}

func metricsOf[T any](families []family[T]) (list []Metric) {
	for _, f := range families {
		f.Labels = slices.Clone(f.Labels)
		list = append(list, f.Metric)
	}
	return list
}

// encoder turns values of T into metrics of the client library.
type encoder[T any] struct {
	families []family[T]
	descs    []*prometheus.Desc
}

// newEncoder returns an encoder whose first label has the value name. If name is "", append gets that value
// with each T.
func newEncoder[T any](families []family[T], name string) encoder[T] {
	e := encoder[T]{families: families}
	for _, f := range families {
		labels, constant := f.Labels, prometheus.Labels(nil)
		if name != "" {
			labels, constant = labels[1:], prometheus.Labels{labels[0]: name}
		}
		e.descs = append(e.descs, prometheus.V2.NewDesc(f.Name, f.Help, prometheus.UnconstrainedLabels(labels), constant, prometheus.WithUnit(f.Unit)))
	}
	return e
}

// Describe sends the descriptions of all metrics.
func (e encoder[T]) Describe(to chan<- *prometheus.Desc) {
	for _, d := range e.descs {
		to <- d
	}
}

// append adds the metrics of v to the list.
func (e encoder[T]) append(list []prometheus.Metric, v *T, labels ...string) []prometheus.Metric {
	for i, f := range e.families {
		if f.read != nil {
			list = append(list, newHistogram(e.descs[i], labels, f.read(v)))
		}
		for _, s := range f.parts {
			all := slices.Clone(labels)
			if s.label != "" {
				all = append(all, s.label)
			}
			list = append(list, prometheus.MustNewConstMetric(e.descs[i], f.kind, s.read(v), all...))
		}
	}
	return list
}
