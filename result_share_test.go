package weir_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestResultsMayBeGivenFromManyGoroutines(t *testing.T) {
	const givers, each = 4, 250
	for _, limit := range []int{1, 3} {
		t.Run(fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			check.Within(time.Minute, func() {
				g := weir.NewGroup(context.Background(), limit, weir.KeepGoing())
				r := weir.NewResults[int](g)
				for range check.Scale(20, 3) {
					var giving sync.WaitGroup
					for n := range givers {
						giving.Go(func() {
							for i := n * each; i < (n+1)*each; i++ {
								if i%3 == 0 {
									r.Go(failsWith(i))
								} else {
									r.Go(gives(i))
								}
							}
						})
					}
					giving.Wait()
					values, err := r.Wait()
					// Errors and values agree about which task has which place.
					for _, i := range failedTasks(t, err) {
						if values[i]%3 != 0 {
							t.Errorf("task %d has failed, but there stands the value %d", i, values[i])
						}
					}
					check.Equal(t, "failed", len(parts(err)), (givers*each+2)/3)
					slices.Sort(values)
					for i, v := range values {
						if i != v {
							t.Fatalf("value %d is missing or there twice", i)
						}
					}
					check.Equal(t, "values", len(values), givers*each)
				}
			})
		})
	}
	check.Bubble(t, "and by tasks of the group", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Queue(weir.Unbounded))
		r := weir.NewResults[int](g)
		var tree func(depth int) func(context.Context) (int, error)
		tree = func(depth int) func(context.Context) (int, error) {
			return func(context.Context) (int, error) {
				if depth > 0 {
					r.Go(tree(depth - 1))
					r.Go(tree(depth - 1))
				}
				return depth, nil
			}
		}
		r.Go(tree(6))
		values, err := r.Wait()
		check.OK(t, err)
		check.Equal(t, "values", len(values), 1<<7-1)
		check.Equal(t, "first value", values[0], 6)
	})
}

func TestSeveralMayWaitForResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		r := weir.NewResults[int](g)
		v := check.NewValve()
		for i := range 5 {
			r.Go(func(context.Context) (int, error) { v.Hold(); return i, nil })
		}
		var waiting sync.WaitGroup
		for range 4 {
			waiting.Go(func() {
				values, err := r.Wait()
				check.OK(t, err)
				equalSlices(t, "values", values, []int{0, 1, 2, 3, 4})
				values[0] = 7 // each has a slice of its own
			})
		}
		synctest.Wait()
		v.Open()
		waiting.Wait()
		values, err := r.Wait()
		check.OK(t, err)
		check.Equal(t, "values after that", len(values), 0)
	})
}

func TestResultsThatShareAGroup(t *testing.T) {
	check.Bubble(t, "number their own tasks", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 3, weir.KeepGoing())
		names, sizes := weir.NewResults[string](g), weir.NewResults[int](g)
		g.Go(succeed)
		names.Go(gives("a"))
		sizes.Go(gives(1))
		sizes.Go(failsWith(2))
		names.Go(gives("b"))
		sizes.Go(gives(3))
		texts, err := names.Wait()
		check.Error(t, err, errBoom)
		equalSlices(t, "names", texts, []string{"a", "b"})
		numbers, again := sizes.Wait()
		check.Equal(t, "the same error", again, err)
		equalSlices(t, "sizes", numbers, []int{1, 2, 3})
		equalSlices(t, "failed", failedTasks(t, err), []int{1})
		sizes.Go(gives(4))
		numbers, err = sizes.Wait()
		check.OK(t, err)
		equalSlices(t, "sizes of the next batch", numbers, []int{4})
	})
	check.Bubble(t, "outlive a Wait of the group until the next task", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 3)
		r := weir.NewResults[int](g)
		r.Go(gives(1))
		r.Go(failsWith(2))
		check.Error(t, g.Wait(), errBoom)
		values, err := r.Wait()
		check.Error(t, err, errBoom)
		check.Equal(t, "values", len(values), 2)
		r.Go(gives(3))
		check.OK(t, g.Wait())
		r.Go(gives(4))
		values, err = r.Wait()
		check.OK(t, err)
		equalSlices(t, "values of the next batch", values, []int{4})
	})
}

func TestMisuseOfResultsPanicsAtTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			zero  = "weir: results must be made by NewResults, got the zero value"
			taken = "weir: results must be read by one of Wait, All, Ordered and First at a time, got another"
		)
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 1))
		check.Panics(t, "weir: group must not be nil, got nil", func() { weir.NewResults[int](nil) })
		check.Panics(t, "weir: group must be made by NewGroup or Pool.Group, got the zero value", func() { weir.NewResults[int](new(weir.Group)) })
		check.Panics(t, "weir: task must not be nil, got nil", func() { r.Go(nil) })
		check.Panics(t, zero, func() { new(weir.Results[int]).Go(gives(1)) })
		check.Panics(t, zero, func() { _, _ = new(weir.Results[int]).Wait() })
		check.Panics(t, zero, func() { new(weir.Results[int]).All() })
		check.Panics(t, zero, func() { new(weir.Results[int]).Ordered() })
		check.Panics(t, zero, func() { _, _ = new(weir.Results[int]).First() })
		check.Panics(t, "weir: First must have a task to wait for, got none", func() { _, _ = r.First() })

		r.Go(gives(1))
		seen := 0
		for v, err := range r.All() {
			check.OK(t, err)
			seen += v
			check.Panics(t, taken, func() { _, _ = r.Wait() })
			check.Panics(t, taken, func() { _, _ = r.First() })
			check.Panics(t, taken, func() { drain(t, r.Ordered()) })
		}
		check.Equal(t, "seen", seen, 1)
		v := check.NewValve()
		r.Go(func(context.Context) (int, error) { v.Hold(); return 2, nil })
		var waiting sync.WaitGroup
		waiting.Go(func() {
			values, err := r.Wait()
			check.OK(t, err)
			equalSlices(t, "values", values, []int{2})
		})
		synctest.Wait()
		check.Panics(t, taken, func() { drain(t, r.All()) })
		v.Open()
		waiting.Wait()
	})
}
