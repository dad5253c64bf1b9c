package peers_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// concResults are those of results, loops and streams.
var concResults = []peers.Case{
	{
		Name: "ResultsKeepTheMaximum",
		Theirs: []string{
			"pool.TestResultGroup/limit",
			"pool.TestResultErrorGroup/limit",
			"pool.TestResultContextPool/limit",
		},
		Behaviour: "Tasks with results keep a maximum as others do, and no result is lost.",
		Run: func(t *testing.T) {
			for _, limit := range []int{1, 10, 100} {
				r := weir.NewResults[int](weir.NewGroup(t.Context(), limit, weir.Queue(0)))
				var running gauge.Gauge
				var want []int
				for i := range 10 * limit {
					want = append(want, i)
					r.Go(func(context.Context) (int, error) {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Millisecond)
						return i, nil
					})
				}
				found, err := r.Wait()
				ok(t, err)
				equalSlices(t, found, want)
				equal(t, "ran at most", running.Peak.Load(), int64(limit))
				equal(t, "run at the end", running.Now.Load(), 0)
			}
		},
	},
	{
		Name: "ResultsOfTasksThatFailed",
		Theirs: []string{
			"pool.TestResultErrorGroup/wait error if func returns error",
			"pool.TestResultErrorGroup/wait error is all returned errors",
			"pool.TestResultErrorGroup/WithFirstError",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error if func returns error",
			"pool.TestResultContextPool/behaves the same as ErrorGroup/wait error is all returned errors",
			"pool.TestResultContextPool/context cancel propagates",
			"pool.TestResultContextPool/WithCancelOnError",
			"pool.TestResultContextPool/WithFirstError",
		},
		Behaviour: "Results of tasks that failed are left out, so that the slice is shorter than the number of tasks.",
		Different: "Each task has its place, so that the n-th result is that of the n-th task, also together with an error.",
		Run: func(t *testing.T) {
			found, err := resultsOf(t, []weir.Option{weir.KeepGoing()}, result(0, errBoom), result(7, nil), result(0, errLate))
			isError(t, err, errBoom)
			equalSlices(t, found, []int{0, 7, 0})
			found, err = resultsOf(t, nil, result(0, errBoom), result(0, errLate))
			isError(t, err, errBoom)
			equalSlices(t, found, []int{0, 0})
		},
	},
	{
		Name:      "IteratorIsUsedAgain",
		Theirs:    []string{"iter.TestIterator/safe for reuse"},
		Behaviour: "A loop over few items does not lower the limit for the next one that is run with the same settings.",
		Run: func(t *testing.T) {
			limit := par.Limit(9)
			for _, items := range []int{3, 9, 20} {
				var running gauge.Gauge
				ok(t, par.Each(t.Context(), make([]int, items), func(context.Context, int) error {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Second)
					return nil
				}, limit))
				equal(t, "ran at most", running.Peak.Load(), int64(min(items, 9)))
			}
		},
	},
	{
		Name:      "LoopOverNothing",
		Theirs:    []string{"iter.TestForEach/empty", "iter.TestForEachIdx/empty", "iter.TestMap/empty", "iter.TestMapErr/empty"},
		Behaviour: "A loop over no items calls nothing, and a map of none gives an empty slice that is not nil, and no error.",
		Run: func(t *testing.T) {
			ok(t, par.Each(t.Context(), []int{}, func(context.Context, int) error { panic("called") }))
			ok(t, par.Each(t.Context(), par.Pairs(slices.All([]int{})), func(context.Context, par.Pair[int, int]) error { panic("called") }))
			par.Range(0, func(int, int) { panic("called") })
			found, err := par.Map(t.Context(), []int{}, func(context.Context, int) (int, error) { panic("called") })
			ok(t, err)
			if found == nil || len(found) != 0 {
				t.Errorf("got %#v", found)
			}
		},
	},
	{
		Name:      "MapChangesItemsInPlace",
		Theirs:    []string{"iter.TestMap/mutating inputs is fine, though not recommended", "iter.TestMapErr/mutating inputs is fine, though not recommended"},
		Behaviour: "A map may change the items where they are, by the pointers that the function gets.",
		Different: "The function of Map gets a copy of the item, so that a result cannot depend on what another call has changed; a slice of pointers changes what they point to.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3, 4, 5}
			found, err := par.Map(t.Context(), numbers, func(_ context.Context, n int) (int, error) { n++; return n, nil })
			ok(t, err)
			equalSlices(t, found, []int{2, 3, 4, 5, 6})
			equalSlices(t, numbers, []int{1, 2, 3, 4, 5})

			var pointers []*int
			for i := range numbers {
				pointers = append(pointers, &numbers[i])
			}
			_, err = par.Map(t.Context(), pointers, func(_ context.Context, n *int) (int, error) { *n++; return 0, nil })
			ok(t, err)
			equalSlices(t, numbers, []int{2, 3, 4, 5, 6})
		},
	},
	{
		Name:      "MapEndsWithTheFirstError",
		Theirs:    []string{"iter.TestMapErr/error is propagated"},
		Behaviour: "An error lets the function be called for all other items, without being asked to.",
		Different: "The first error ends a Map unless it has KeepGoing, as with a Group: most callers have no use for the rest.",
		Run: func(t *testing.T) {
			var calls atomic.Int64
			_, err := par.Map(t.Context(), make([]int, 100), func(context.Context, int) (int, error) {
				calls.Add(1)
				return 0, errBoom
			}, par.Limit(1))
			isError(t, err, errBoom)
			equal(t, "calls", calls.Load(), 1)
			if failed, isTask := errors.AsType[*weir.TaskError](err); !isTask || failed.Index != 0 {
				t.Errorf("got %v", err)
			}
		},
	},
	{
		Name:      "StreamOfTasksGivenOneByOne",
		Theirs:    []string{"stream.TestStream/simple", "stream.ExampleStream"},
		Behaviour: "Tasks are given to a stream one by one, with a callback each.",
		Different: "A Stream takes its items from a slice, a sequence or a channel and has one body for all, so that the consumer may stop it and its speed holds the source back; tasks that are given one by one are those of Results.",
		Run: func(t *testing.T) {
			numbers := make(chan int)
			producer := begin(func() {
				defer close(numbers)
				for i := range 5 {
					time.Sleep(time.Second)
					numbers <- i
				}
			})
			begun := time.Now()
			results := 0
			for n, err := range par.Stream(t.Context(), numbers, func(_ context.Context, n int) (int, error) { return n, nil }) {
				ok(t, err)
				equal(t, "result", n, results)
				results++
				equal(t, "time until it comes", time.Since(begun), time.Duration(results)*time.Second)
			}
			equal(t, "results", results, 5)
			<-producer
		},
	},
}

// task is one with a result.
type task = func(context.Context) (int, error)

// result is a task that returns this.
func result(value int, err error) task {
	return func(context.Context) (int, error) { return value, err }
}

// resultsOf has the tasks run, all at once, and returns what Wait does. Each has begun, and
// sleeps, waits or has ended, before the next one is given.
func resultsOf(t *testing.T, opts []weir.Option, tasks ...task) ([]int, error) {
	t.Helper()
	r := weir.NewResults[int](weir.NewGroup(t.Context(), weir.Unbounded, opts...))
	for _, task := range tasks {
		r.Go(task)
		synctest.Wait()
	}
	return r.Wait()
}

// equalSlices fails the test unless both have the same elements in the same order.
func equalSlices[T comparable](t *testing.T, got, want []T) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("got %v, want %v", got, want)
	}
}
