package weirprom

import (
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir/exporter"
)

// pools exports the pools of weir.Pools.
type pools struct {
	encoder[exporter.Totals]
	*exporter.Pools
}

// Collect sends the metrics of all pools.
func (p *pools) Collect(to chan<- prometheus.Metric) {
	for _, totals := range p.Look() {
		for _, m := range p.append(nil, &totals, totals.Name) {
			to <- m
		}
	}
}

// clean replaces bytes that are not UTF-8, which Prometheus refuses, and U+FFFD, which expressions must not
// contain.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
}
