package behaviour

import (
	"context"
	"errors"
	"iter"

	"github.com/64ed045f/weir/par"
)

// numbers is a stream of Weir that calls task with each number below n, and passes the number on.
func numbers(n int, task func(i int), opts ...par.StreamOption) iter.Seq2[int, error] {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return par.Stream(context.Background(), all, func(_ context.Context, i int) (int, error) { task(i); return i, nil }, opts...)
}

// wideStream is a stream of Weir for scenario 11. A stream always has a limit; this limit is far above the
// number of tasks.
func wideStream(tasks int, task, consume func(i int)) error {
	for i, err := range numbers(tasks, task, par.Limit(1000)) {
		if err != nil {
			return err
		}
		consume(i)
	}
	return nil
}

// streamOf runs tasks in a stream, and waits for its end.
func streamOf(tasks []func(), limit int) (failures error) {
	for _, err := range numbers(len(tasks), func(i int) { tasks[i]() }, par.Limit(limit), par.KeepGoing()) {
		failures = errors.Join(failures, err)
	}
	return failures
}
