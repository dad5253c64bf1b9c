package weirprom

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir/exporter"
)

// queues exports the queues of exporter.Queues.
type queues struct{ encoder[exporter.Queue] }

// Collect sends the metrics of all queues.
func (q queues) Collect(to chan<- prometheus.Metric) {
	for _, of := range exporter.Queues(context.Background()) {
		list := q.append(nil, &of, of.Name, of.Server)
		if of.Err != nil {
			list = list[:1] // only weir_queue_up
		}
		for _, m := range list {
			to <- m
		}
	}
}
