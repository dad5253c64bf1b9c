package peers_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// concIter answers conc/iter by the loops of package par: Each and Map for functions that may
// wait or fail, Range for pure computation.
var concIter = []peers.Case{
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
		Name:      "IteratorAboveTheDefaultLimit",
		Theirs:    []string{"iter.TestIterator/allows more than defaultMaxGoroutines() concurrent tasks"},
		Behaviour: "More calls than the default limit, which is GOMAXPROCS, run at once if that is asked for.",
		Run: func(t *testing.T) {
			limit := 2 * runtime.GOMAXPROCS(0)
			all := make(chan struct{})
			var running atomic.Int64
			ok(t, par.Each(t.Context(), make([]int, limit), func(context.Context, int) error {
				if running.Add(1) == int64(limit) {
					close(all)
				}
				<-all
				return nil
			}, par.Limit(limit)))
		},
	},
	{
		Name:      "IteratorWithALimit",
		Theirs:    []string{"iter.ExampleIterator"},
		Behaviour: "A loop with a limit visits all items, and may change them in place.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3, 4}
			par.Range(len(numbers), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					if numbers[i]%2 != 0 {
						numbers[i] = -1
					}
				}
			}, par.Limit(2))
			equalSlices(t, numbers, []int{-1, 2, -1, 4})
		},
	},
	{
		Name:      "MapperWithALimit",
		Theirs:    []string{"iter.ExampleMapper"},
		Behaviour: "A map with a limit gives the results in the order of the items, of another type if need be.",
		Run: func(t *testing.T) {
			var running gauge.Gauge
			even, err := par.Map(t.Context(), []int{1, 2, 3, 4}, func(_ context.Context, n int) (bool, error) {
				running.Enter()
				defer running.Leave()
				time.Sleep(time.Duration(10-n) * time.Second)
				return n%2 == 0, nil
			}, par.Limit(2))
			ok(t, err)
			equalSlices(t, even, []bool{false, true, false, true})
			equal(t, "ran at most", running.Peak.Load(), 2)
		},
	},
	{
		Name:      "LoopOverNothing",
		Theirs:    []string{"iter.TestForEach/empty", "iter.TestForEachIdx/empty"},
		Behaviour: "A loop over no items calls nothing.",
		Run: func(t *testing.T) {
			ok(t, par.Each(t.Context(), []int{}, func(context.Context, int) error { panic("called") }))
			ok(t, par.Each(t.Context(), par.Pairs(slices.All([]int{})), func(context.Context, par.Pair[int, int]) error { panic("called") }))
			par.Range(0, func(int, int) { panic("called") })
		},
	},
	{
		Name:      "LoopPanics",
		Theirs:    []string{"iter.TestForEach/panic is propagated", "iter.TestForEachIdx/panic is propagated"},
		Behaviour: "A panic of the function comes out of the loop, on the goroutine of the caller.",
		Run: func(t *testing.T) {
			loops := map[string]func(){
				"Each": func() {
					_ = par.Each(t.Context(), []int{1}, func(context.Context, int) error { panic("kaboom") })
				},
				"Each with indices": func() {
					_ = par.Each(t.Context(), par.Pairs(slices.All([]int{1})), func(context.Context, par.Pair[int, int]) error { panic("kaboom") })
				},
				"Range": func() { par.Range(1, func(int, int) { panic("kaboom") }) },
			}
			for _, name := range slices.Sorted(maps.Keys(loops)) {
				equal(t, "value out of "+name, panicOf(t, loops[name]).Value, any("kaboom"))
			}
		},
	},
	{
		Name:      "LoopChangesItemsInPlace",
		Theirs:    []string{"iter.TestForEach/mutating inputs is fine", "iter.TestForEachIdx/mutating inputs is fine"},
		Behaviour: "A loop may change the items where they are; here that is what Range is for, while Each hands over copies.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3, 4, 5}
			par.Range(len(numbers), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					numbers[i]++
				}
			})
			equalSlices(t, numbers, []int{2, 3, 4, 5, 6})
		},
	},
	{
		Name:      "LoopOverManyItems",
		Theirs:    []string{"iter.TestForEach/huge inputs", "iter.TestForEachIdx/huge inputs"},
		Behaviour: "Of ten thousand items each is visited exactly once, with its index where that is asked for.",
		Run: func(t *testing.T) {
			const items = 10_000
			visits := make([]atomic.Int64, items)
			numbers := make([]int, items)
			par.Range(items, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					numbers[i] = i
					visits[i].Add(1)
				}
			})
			ok(t, par.Each(t.Context(), numbers, func(_ context.Context, n int) error { visits[n].Add(1); return nil }))
			ok(t, par.Each(t.Context(), par.Pairs(slices.All(numbers)), func(_ context.Context, at par.Pair[int, int]) error {
				equal(t, "item", at.Value, at.Key)
				visits[at.Key].Add(1)
				return nil
			}))
			for i := range visits {
				equal(t, "visits of an item by the three loops", visits[i].Load(), 3)
			}
		},
	},
	{
		Name:      "MapOfNothing",
		Theirs:    []string{"iter.TestMap/empty", "iter.TestMapErr/empty"},
		Behaviour: "A map of no items calls nothing and gives an empty slice that is not nil, and no error.",
		Run: func(t *testing.T) {
			found, err := par.Map(t.Context(), []int{}, func(context.Context, int) (int, error) { panic("called") })
			ok(t, err)
			if found == nil || len(found) != 0 {
				t.Errorf("got %#v", found)
			}
		},
	},
	{
		Name:      "MapPanics",
		Theirs:    []string{"iter.TestMap/panic is propagated", "iter.TestMapErr/panic is propagated"},
		Behaviour: "A panic of the function comes out of the map, on the goroutine of the caller.",
		Run: func(t *testing.T) {
			for _, opts := range [][]par.Option{nil, {par.KeepGoing()}} {
				p := panicOf(t, func() {
					_, _ = par.Map(t.Context(), []int{1}, func(context.Context, int) (int, error) { panic("kaboom") }, opts...)
				})
				equal(t, "value", p.Value, any("kaboom"))
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
		Name:      "MapKeepsTheOrder",
		Theirs:    []string{"iter.TestMap/basic increment", "iter.TestMapErr/basic increment"},
		Behaviour: "The n-th result is that of the n-th item, however long the calls take, and the items stay as they were.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3, 4, 5}
			found, err := par.Map(t.Context(), numbers, func(_ context.Context, n int) (int, error) {
				time.Sleep(time.Duration(10-n) * time.Second)
				return n + 1, nil
			}, par.Limit(3))
			ok(t, err)
			equalSlices(t, found, []int{2, 3, 4, 5, 6})
			equalSlices(t, numbers, []int{1, 2, 3, 4, 5})
		},
	},
	{
		Name:      "MapOfManyItems",
		Theirs:    []string{"iter.TestMap/huge inputs", "iter.TestMapErr/huge inputs"},
		Behaviour: "Ten thousand items have ten thousand results, each in its place.",
		Run: func(t *testing.T) {
			numbers := make([]int, 10_000)
			for i := range numbers {
				numbers[i] = i
			}
			found, err := par.Map(t.Context(), numbers, func(_ context.Context, n int) (int, error) { return n, nil })
			ok(t, err)
			equalSlices(t, found, numbers)
		},
	},
	{
		Name:      "MapWithAnError",
		Theirs:    []string{"iter.TestMapErr/error is propagated"},
		Behaviour: "An error ends nothing, here with KeepGoing: all have their results, also the one that failed, and the error is returned.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3, 4, 5}
			found, err := par.Map(t.Context(), numbers, failFor(map[int]error{3: errBoom}), par.KeepGoing())
			isError(t, err, errBoom)
			equalSlices(t, found, []int{2, 3, -1, 5, 6})
			equalSlices(t, numbers, []int{1, 2, 3, 4, 5})
		},
	},
	{
		Name:      "MapWithSeveralErrors",
		Theirs:    []string{"iter.TestMapErr/multiple errors are propagated"},
		Behaviour: "Several errors are all returned; here each says for which item.",
		Run: func(t *testing.T) {
			found, err := par.Map(t.Context(), []int{1, 2, 3, 4, 5}, failFor(map[int]error{3: errBoom, 4: errLate}), par.KeepGoing())
			isError(t, err, errBoom)
			isError(t, err, errLate)
			equalSlices(t, found, []int{2, 3, -1, -1, 6})
			equal(t, "text", err.Error(), "task 2: boom\ntask 3: late")
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
}

// failFor returns a function that adds 1, but fails for some numbers, and returns -1 then.
func failFor(failures map[int]error) func(context.Context, int) (int, error) {
	return func(_ context.Context, n int) (int, error) {
		if err := failures[n]; err != nil {
			return -1, err
		}
		return n + 1, nil
	}
}
