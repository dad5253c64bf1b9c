package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// gives is a task that succeeds with v.
func gives[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, nil }
}

// failsWith is a task that fails, and returns v nevertheless.
func failsWith[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, errBoom }
}

func explodeWithResult(context.Context) (int, error) { panic(errBoom) }

func exitWithResult(context.Context) (int, error) {
	runtime.Goexit()
	return 0, nil
}

// untilEnd is a task that ends with its group, and fails then.
func untilEnd(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// equalSlices fails the test unless got is want.
func equalSlices[T comparable](t testing.TB, what string, got, want []T) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// parts are the errors that err consists of.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	if joined, isJoined := err.(interface{ Unwrap() []error }); isJoined {
		return joined.Unwrap()
	}
	return []error{err}
}

// failedTasks are the numbers of the tasks whose errors err consists of.
func failedTasks(t testing.TB, err error) []int {
	t.Helper()
	var numbers []int
	for _, part := range parts(err) {
		failure, isFailure := errors.AsType[*weir.TaskError](part)
		if !isFailure {
			t.Errorf("%v does not say which task", part)
			continue
		}
		numbers = append(numbers, failure.Index)
	}
	return numbers
}

func TestResultsStandInTheOrderOfSubmission(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 23, 24, 25, 1000} {
		check.Bubble(t, fmt.Sprintf("tasks=%d", n), func(t *testing.T) {
			g := weir.NewGroup(t.Context(), max(1, n))
			r := weir.NewResults[int](g)
			want := make([]int, n)
			for i := range n {
				want[i] = i * i
				r.Go(func(context.Context) (int, error) {
					time.Sleep(time.Duration(n-i) * time.Second) // the last ends first
					return i * i, nil
				})
			}
			values, err := r.Wait()
			check.OK(t, err)
			equalSlices(t, "values", values, want)
		})
	}
}

func TestScenario10AFailureLosesNoResult(t *testing.T) {
	for name, opts := range map[string][]weir.Option{
		"one at a time":     {weir.Limit(1)},
		"all at once":       nil,
		"without any queue": {weir.Queue(0)},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 10, append(opts, weir.KeepGoing())...)
			r := weir.NewResults[int](g)
			want := make([]int, 10)
			for i := range want {
				want[i] = 100 + i
				if i == 2 || i == 6 || i == 9 {
					r.Go(failsWith(100 + i))
				} else {
					r.Go(gives(100 + i))
				}
			}
			values, err := r.Wait()
			equalSlices(t, "values", values, want)
			check.Error(t, err, errBoom)
			equalSlices(t, "failed", failedTasks(t, err), []int{2, 6, 9})
		})
	}
	check.Bubble(t, "the first error cancels, and what was there stays", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1)
		r := weir.NewResults[int](g)
		for i := range 3 {
			r.Go(gives(100 + i))
		}
		r.Go(failsWith(103))
		for i := range 3 {
			r.Go(gives(104 + i))
		}
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{100, 101, 102, 103, 0, 0, 0})
		check.Error(t, err, errBoom)
		equalSlices(t, "failed", failedTasks(t, err), []int{3})
	})
}

func TestScenario06GoexitHidesNoResult(t *testing.T) {
	check.Bubble(t, "with KeepGoing", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
		r := weir.NewResults[int](g)
		give := func() {
			for i := range 6 {
				if i%2 == 0 {
					r.Go(exitWithResult)
				} else {
					r.Go(gives(i))
				}
			}
		}
		give()
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{0, 1, 0, 3, 0, 5})
		check.Error(t, err, weir.ErrGoexit)
		equalSlices(t, "failed", failedTasks(t, err), []int{0, 2, 4})
		for name, loop := range loops(r) {
			give()
			var values, failed []int
			for v, err := range loop {
				if err != nil {
					check.Error(t, err, weir.ErrGoexit)
					failed = append(failed, failedTasks(t, err)...)
				} else {
					values = append(values, v)
				}
			}
			slices.Sort(values)
			slices.Sort(failed)
			equalSlices(t, name+": values", values, []int{1, 3, 5})
			equalSlices(t, name+": failed", failed, []int{0, 2, 4})
		}
	})
	check.Bubble(t, "without", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1)
		r := weir.NewResults[int](g)
		r.Go(gives(1))
		r.Go(exitWithResult)
		r.Go(gives(2))
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{1, 0, 0})
		check.Error(t, err, weir.ErrGoexit)
	})
}

func TestACancelledGroupHasTheResultsOfTasksThatRan(t *testing.T) {
	for _, opts := range [][]weir.GroupOption{nil, {weir.KeepGoing()}, {weir.Limit(1)}} {
		check.Bubble(t, fmt.Sprintf("options=%d", len(opts)), func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			g := p.Group(t.Context(), opts...)
			r := weir.NewResults[int](g)
			r.Go(gives(1))
			check.OK(t, waitUntilIdle(p))
			r.Go(func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 2, nil
			})
			var giving sync.WaitGroup
			for range 3 { // queued, or waiting for room
				giving.Go(func() { r.Go(gives(3)) })
			}
			synctest.Wait()
			g.Cancel(errBoom)
			giving.Wait()
			r.Go(gives(4))
			values, err := r.Wait()
			check.Error(t, err, errBoom)
			equalSlices(t, "values", values, []int{1, 2, 0, 0, 0, 0})
			r.Go(gives(5))
			values, err = r.Wait()
			check.OK(t, err)
			equalSlices(t, "values of the next batch", values, []int{5})
		})
	}
}

// waitUntilIdle returns when the pool has nothing to do.
func waitUntilIdle(p *weir.Pool) error { return p.WaitContext(context.Background()) }

func TestARefusedTaskHasTheZeroResultAndAnError(t *testing.T) {
	check.Bubble(t, "by a closed pool", func(t *testing.T) {
		p := weir.New(1)
		r := weir.NewResults[int](p.Group(t.Context(), weir.KeepGoing()))
		v := check.NewValve()
		r.Go(func(context.Context) (int, error) { v.Hold(); return 1, nil })
		r.Go(gives(2))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "handed back to others than the group", len(unrun), 0)
		r.Go(gives(3))
		v.Open()
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{1, 0, 0})
		check.Error(t, err, weir.ErrClosed)
		check.Equal(t, "errors", err.Error(), "task 1: weir: pool is closed\nweir: pool is closed") // and the cause, as task 0 was cancelled
		p.Close()
	})
	check.Bubble(t, "by a full pool", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1, weir.Queue(0), weir.MaxWaiting(0), weir.KeepGoing())
		r := weir.NewResults[int](g)
		v := check.NewValve()
		r.Go(func(context.Context) (int, error) { v.Hold(); return 1, nil })
		r.Go(gives(2))
		v.Open()
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{1, 0})
		check.Error(t, err, weir.ErrFull)
		equalSlices(t, "failed", failedTasks(t, err), []int{1})
	})
}

func TestResultsAreAsNewAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		r := weir.NewResults[int](g)
		for range 3 {
			r.Go(gives(1))
			r.Go(explodeWithResult)
			value := check.Caught(func() { _, _ = r.Wait() })
			p, isPanic := value.(*weir.Panic)
			if !isPanic {
				t.Fatalf("Wait panicked with %v", value)
			}
			check.Error(t, p, errBoom)
			r.Go(gives(2))
			values, err := r.Wait()
			check.OK(t, err)
			equalSlices(t, "values", values, []int{2})
		}
	})
	check.Bubble(t, "with PanicsAsErrors", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.KeepGoing(), weir.PanicsAsErrors())
		r := weir.NewResults[int](g)
		r.Go(gives(1))
		r.Go(explodeWithResult)
		r.Go(gives(3))
		values, err := r.Wait()
		equalSlices(t, "values", values, []int{1, 0, 3})
		equalSlices(t, "failed", failedTasks(t, err), []int{1})
		if _, isPanic := errors.AsType[*weir.Panic](err); !isPanic {
			t.Errorf("Wait returned %v", err)
		}
	})
}
