package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// panel is a graph. The type of the metric decides what it shows: a counter per second, a gauge as it is, or
// quantiles of a histogram.
type panel struct {
	title     string
	metric    string
	quantiles []float64
}

var panels = []panel{
	{"Throughput: tasks finished per second", "weir_pool_finished_total", nil},
	{"Queued tasks", "weir_pool_queued", nil},
	{"Wait in the queue: p50 and p99", "weir_pool_wait_seconds", []float64{0.5, 0.99}},
	{"Run: p99", "weir_pool_run_seconds", []float64{0.99}},
	{"Workers by state", "weir_pool_workers", nil},
	{"Oldest queued task", "weir_pool_oldest_queued_seconds", nil},
	{"Rejected per second", "weir_pool_rejected_total", nil},
	{"Panicked per second", "weir_pool_panicked_total", nil},
	{"Requests refused per second", "weir_http_limiter_refused_total", nil},
	{"Requests' wait: p99", "weir_http_limiter_wait_seconds", []float64{0.99}},
	{"Requests to other servers: p99", "weir_http_transport_run_seconds", []float64{0.99}},
	{"Objects of keepers by state", "weir_keeper_objects", nil},
}

type object map[string]any

// dashboard returns the dashboard in the form that Grafana imports.
func dashboard() []byte {
	const columns, width, height = 2, 12, 8
	source := object{"type": "prometheus", "uid": "${source}"}
	var graphs []object
	for i, p := range panels {
		m := metric(p.metric)
		unit := "short"
		if m.Unit == "seconds" {
			unit = "s"
		} else if m.Type == "counter" {
			unit = "cps"
		}
		graphs = append(graphs, object{
			"id": i + 1, "type": "timeseries", "title": p.title, "description": m.Help, "datasource": source,
			"gridPos":     object{"x": i % columns * width, "y": i / columns * height, "w": width, "h": height},
			"fieldConfig": object{"defaults": object{"unit": unit, "min": 0}, "overrides": []object{}},
			"targets":     p.targets(),
		})
	}
	text, err := json.MarshalIndent(object{
		"title": "Weir", "uid": "weir", "tags": []string{"weir"}, "schemaVersion": 39, "editable": true,
		"time": object{"from": "now-30m", "to": "now"}, "refresh": "10s", "panels": graphs,
		"annotations": object{"list": []object{}},
		"templating": object{"list": []object{
			{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
			{
				"name": "pool", "label": "Pool", "type": "query", "datasource": source, "query": "label_values(" + metric("weir_pools").Name + ", pool)",
				"refresh": 2, "sort": 1, "multi": true, "includeAll": true, "current": object{"text": "All", "value": "$__all"},
			},
		}},
	}, "", " ")
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

// targets returns the expressions of the graph, with their legends.
func (p panel) targets() (list []object) {
	m := metric(p.metric)
	by, selector := strings.Join(m.Labels, ", "), ""
	if m.Labels[0] == "pool" {
		selector = `{pool=~"$pool"}`
	}
	legend := "{{" + strings.Join(m.Labels, "}} {{") + "}}"
	const window = "$__rate_interval"
	add := func(expression, legend string) {
		list = append(list, object{"refId": string(rune('A' + len(list))), "expr": expression, "legendFormat": legend})
	}
	switch {
	case m.Type == "counter":
		add(fmt.Sprintf("sum by (%s) (rate(%s%s[%s]))", by, m.Name, selector, window), legend)
	case m.Type == "histogram":
		for _, q := range p.quantiles {
			add(quantile(q, m.Name, selector, window, m.Labels...), fmt.Sprintf("%s p%v", legend, 100*q))
		}
	case m.Unit == "seconds": // an age: a sum of several says nothing
		add(fmt.Sprintf("max by (%s) (%s%s)", by, m.Name, selector), legend)
	default:
		add(fmt.Sprintf("sum by (%s) (%s%s)", by, m.Name, selector), legend)
	}
	return list
}
