package behaviour

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// wideStream is a stream of Weir for scenario 11. A stream always has a limit; this limit is far above the
// number of tasks.
func wideStream(tasks int, task, consume func(i int)) error {
	numbers := make([]int, tasks)
	for i := range numbers {
		numbers[i] = i
	}
	results := par.Stream(context.Background(), numbers, func(_ context.Context, i int) (int, error) {
		task(i)
		return i, nil
	}, par.Limit(1000))
	for i, err := range results {
		if err != nil {
			return err
		}
		consume(i)
	}
	return nil
}

// exitedStream is scenario 06 for a stream.
func exitedStream() error {
	exited, ended := 0, 0
	results := par.Stream(context.Background(), []int{0, 1, 2, 3}, func(_ context.Context, i int) (int, error) {
		if i < 2 {
			runtime.Goexit()
		}
		return i, nil
	}, par.Limit(2), par.KeepGoing())
	for _, err := range results {
		switch {
		case err == nil:
			ended++
		case errors.Is(err, weir.ErrGoexit):
			exited++
		default:
			return fmt.Errorf("the stream: %w", err)
		}
	}
	return errors.Join(
		count("tasks of the stream told to have exited", exited, 2),
		count("other results of the stream", ended, 2))
}

// streamOf runs tasks in a stream, and waits for its end.
func streamOf(tasks []func(), limit par.Option) error {
	for _, err := range par.Stream(context.Background(), tasks, func(_ context.Context, task func()) (bool, error) {
		task()
		return true, nil
	}, limit) {
		if err != nil {
			return err
		}
	}
	return nil
}
