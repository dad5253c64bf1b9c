package main

import (
	"bytes"
	"fmt"
)

// alert is a rule that fires when its expression has been true for a given time.
type alert struct {
	name, severity, duration string
	expression               string
	summary, description     string
}

// The expressions keep all labels, so that each alert concerns one pool of one program.
var rules = []alert{
	{
		"WeirPoolStuck", "critical", "5m",
		named("%s > 0 and increase(%s[2m]) == 0", "weir_pool_queued", "weir_pool_finished_total"),
		"Pool {{ $labels.pool }} is stuck",
		"{{ $value }} tasks are queued, and for 5 minutes no task has finished. /debug/weir/ shows the tasks that run, and where.",
	},
	{
		"WeirTasksWaitLong", "warning", "10m",
		"(" + quantile(0.99, "weir_pool_wait_seconds", "", "5m") + ") > 4", // also a bound of the classic form
		"Tasks of pool {{ $labels.pool }} wait for long",
		"One task in a hundred waits for {{ $value | humanizeDuration }} or longer before it starts: the pool needs a higher limit, or less work.",
	},
	{
		"WeirTasksPanic", "warning", "0m",
		named("increase(%s[5m]) > 0", "weir_pool_panicked_total"),
		"Tasks of pool {{ $labels.pool }} panic",
		"About {{ $value | humanize }} tasks have panicked in 5 minutes. The log of the program has their stacks.",
	},
	{
		"WeirTasksRejected", "warning", "10m",
		named("increase(%s[5m]) > 0", "weir_pool_rejected_total"),
		"Pool {{ $labels.pool }} rejects tasks",
		"About {{ $value | humanize }} tasks were rejected in 5 minutes: the pool was full or closed, or their contexts were done.",
	},
	{
		"WeirPoolFull", "warning", "15m",
		named("%s > 0", "weir_pool_waiting"),
		"Pool {{ $labels.pool }} is full",
		"For 15 minutes submitters have waited for room in the queue. {{ $value }} wait now.",
	},
}

// named fills the names of metrics into an expression.
func named(expression string, names ...string) string {
	var known []any
	for _, name := range names {
		known = append(known, metric(name).Name)
	}
	return fmt.Sprintf(expression, known...)
}

// alerts returns the rules in the form that Prometheus reads.
func alerts() []byte {
	var text bytes.Buffer
	text.WriteString("# Written by internal/dashboard. DO NOT EDIT. The rules need a scrape each minute or more often.\ngroups:\n- name: weir\n  rules:\n")
	for _, r := range rules {
		fmt.Fprintf(&text, `  - alert: %s
    expr: %q
    for: %s
    labels: {severity: %s}
    annotations:
      summary: %q
      description: %q
`, r.name, r.expression, r.duration, r.severity, r.summary, r.description)
	}
	return text.Bytes()
}
