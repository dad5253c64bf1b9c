package main

import (
	"context"
	"time"

	"github.com/64ed045f/weir/lab/internal/record"
)

// What the tests look at inside.
var Durable = durable

// Small measures all contenders whose servers are there, once and for a moment.
func Small(ctx context.Context, say func(format string, args ...any)) (results []record.Result, names []string, err error) {
	r := runner{rounds: 1, tasks: 20, samples: 3, time: 20 * time.Millisecond, say: say}
	r.keep = func(result record.Result) error { results = append(results, result); return nil }
	r.contenders, _ = available(say)
	for _, c := range r.contenders {
		names = append(names, c.name)
	}
	err = r.run(ctx)
	return results, names, err
}
