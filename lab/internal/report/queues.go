package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// queueRows are the rows of the table of queues. Text in braces is a parameter.
var queueRows = []struct{ experiment, unit, title string }{
	{"put", "op/s", "messages put a second, goroutines at once: {putters}"},
	{"batch", "op/s", "messages put a second, {messages} with each call"},
	{"serve", "op/s", "tasks run a second, of {waiting} that wait, 64 places"},
	{"latency", "p50-ns", "from put into an idle queue to run: median"},
	{"latency", "p99-ns", "the same: 99th percentile"},
	{"start", "server-ns", "start of a server in a process of its own"},
	{"start", "open-ns", "then an empty queue is open after"},
	{"start", "first-ns", "and its first task runs after"},
	{"memory", "peak-B", "peak memory of the process that runs tasks, {waiting} waiting"},
	{"memory", "server-peak-B", "the same: of the server's process"},
}

// weirQueues is the name of Weir's queues.
const weirQueues = "weirnats"

// queues are the columns of the table, in order. The name of a form begins with one of them and a dot.
var queues = []string{weirQueues, "nats.go", "River", "asynq"}

// Queues returns the table of queues that outlive the program, from the results of lab/durable. It is empty
// if there are no such results.
func Queues(file record.File) string {
	tables := record.Tables(file.Results)
	var rows [][]string
	for _, r := range queueRows {
		for _, t := range tables {
			if t.Suite != "durable" || t.Experiment != r.experiment || !slices.Contains(t.Units, r.unit) {
				continue
			}
			title := r.title
			for _, p := range t.Params {
				title = strings.ReplaceAll(title, "{"+p.Key+"}", grouped(p.Value))
			}
			if record.Find(t.Params, "sync") == "always" {
				title += "; each synced"
			}
			row := []string{title}
			for _, queue := range queues { // with its best form
				cell := "–"
				form, ok := best(t.Rows, r.unit, func(peer string) bool { return strings.HasPrefix(peer+".", queue+".") })
				if ok {
					cell = entry(form.Cells[r.unit], r.unit, strings.TrimPrefix(strings.TrimPrefix(form.Peer, queue), "."), false)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return tableMarkdown(append([]string{""}, queues...), "--:", rows) +
		fmt.Sprintf("\nMedians with the interval of 95 %% confidence. %s.\n", escapeMarkdown(origin(file, tables)))
}
