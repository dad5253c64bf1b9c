package peers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/peers"
)

var concPeer = peers.Peer{
	Name:   "conc",
	Module: "github.com/sourcegraph/conc",
	Cases:  slices.Concat(concAgrees.cases(), concDiffers.cases(), concOwn),
}

// concOwn are the cases that no test of the library shows as a whole.
var concOwn = []peers.Case{
	{
		Name:      "WaitGroupOthersBesideAPanic",
		Theirs:    names{"conc.TestWaitGroup/panic/non-panics run successfully"},
		Behaviour: "A panic changes nothing for the others: what was given before and after it runs.",
		Different: "A panic cancels a Group, as an error does, since the work as a whole has failed: what has not started does not run; with KeepGoing and PanicsAsErrors it does.",
		Ours:      names{"weir.TestKeepGoingJoinsAllErrorsInTheOrderOfSubmission/a panic is an error like others, with PanicsAsErrors"},
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 1)
			ran := 0
			count := func(context.Context) error { ran++; return nil }
			g.Go(count)
			g.Go(explodeTask)
			g.Go(count)
			check.Equal(t, "Wait panics", check.Caught(func() { _ = g.Wait() }) != nil, true)
			check.Equal(t, "others that ran", ran, 1)
		},
	},
	{
		Name:      "PanicWithoutAnErrorWrapsNone",
		Theirs:    names{"panics.TestCatcher/not error"},
		Behaviour: "A panic whose value is not an error wraps none.",
		Run: func(t *testing.T) {
			if p := panicOf(t, explodeTask); errors.Unwrap(p) != nil || errors.Is(p, errBoom) {
				t.Errorf("got %v, which wraps %v", p, errors.Unwrap(p))
			}
		},
	},
	{
		Name:      "StackOfAPanic",
		Theirs:    names{"panics.ExampleCatcher_callers"},
		Behaviour: "A panic has the program counters of its callers, among them those of the library that recovered it.",
		Different: "A Panic has its stack as text, as debug.Stack writes it, which is what one reads; it begins with the panic, without the library's own frames above that.",
		Run: func(t *testing.T) {
			p := panicOf(t, explodeTask)
			lines := strings.Split(string(p.Stack), "\n")
			// The goroutine, the panic and its place, and then the caller of panic.
			if len(lines) < 4 || !strings.HasPrefix(lines[1], "panic(") || !strings.Contains(lines[3], "peers_test.explodeTask") {
				t.Errorf("stack:\n%s", p.Stack)
			}
		},
	},
	{
		Name: "PoolSetUpTooLate",
		Theirs: names{"pool.TestPool/panics on configuration after init/before wait", "pool.TestPool/panics on configuration after init/after wait",
			"pool.TestErrorPool/panics on configuration after init/before wait", "pool.TestErrorPool/panics on configuration after init/after wait",
			"pool.TestContextPool/panics on configuration after init/before wait", "pool.TestContextPool/panics on configuration after init/after wait",
			"pool.TestResultGroup/panics on configuration after init/before wait", "pool.TestResultGroup/panics on configuration after init/after wait",
			"pool.TestResultErrorGroup/panics on configuration after init/before wait", "pool.TestResultErrorGroup/panics on configuration after init/after wait",
			"pool.TestResultContextPool/panics on configuration after init/before wait", "pool.TestResultContextPool/panics on configuration after init/after wait"},
		Behaviour: "The maximum can no longer be set once a pool of any kind has had a task, neither before Wait nor after it: that panics.",
		Different: "Options are arguments of the constructor, so none can come too late; the limit alone may change, and that at any time, by Resize.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 2, weir.Queue(weir.Unbounded))
			for _, limit := range []int{2, 10, 3} { // the later ones are set before Wait and after it
				var running check.Gauge
				for range 100 {
					g.Go(func(context.Context) error { nap(&running); return nil })
				}
				g.Resize(limit)
				time.Sleep(2 * time.Millisecond) // until those have ended that ran under the old limit
				running.Peak.Store(0)
				check.OK(t, g.Wait())
				check.Equal(t, "ran at most", running.Peak.Load(), int64(limit))
			}
		},
	},
	{
		Name:      "ResultsKeepTheMaximum",
		Theirs:    names{"pool.TestResultGroup/limit", "pool.TestResultErrorGroup/limit", "pool.TestResultContextPool/limit"},
		Behaviour: "Tasks with results keep a maximum as others do, and no result is lost.",
		Run: func(t *testing.T) {
			for _, limit := range []int{1, 10, 100} {
				r := weir.NewResults[int](weir.NewGroup(t.Context(), limit, weir.Queue(0)))
				var running check.Gauge
				var want []int
				for i := range 10 * limit {
					want = append(want, i)
					r.Go(func(context.Context) (int, error) { nap(&running); return i, nil })
				}
				found, err := r.Wait()
				check.OK(t, err)
				check.Equal(t, "no result is lost", slices.Equal(found, want), true)
				check.Equal(t, "ran at most", running.Peak.Load(), int64(limit))
				check.Equal(t, "run at the end", running.Now.Load(), 0)
			}
		},
	},
	{
		Name:      "IteratorIsUsedAgain",
		Theirs:    names{"iter.TestIterator/safe for reuse"},
		Behaviour: "A loop over few items does not lower the limit for the next one that is run with the same settings.",
		Run: func(t *testing.T) {
			limit := par.Limit(9)
			for _, items := range []int{3, 9, 20} {
				var running check.Gauge
				nap := func(context.Context, int) error { nap(&running); return nil }
				check.OK(t, par.Each(t.Context(), make([]int, items), nap, limit))
				check.Equal(t, "ran at most", running.Peak.Load(), int64(min(items, 9)))
			}
		},
	},
	{
		Name:      "LoopOverNothing",
		Theirs:    names{"iter.TestForEach/empty", "iter.TestForEachIdx/empty", "iter.TestMap/empty", "iter.TestMapErr/empty"},
		Behaviour: "A loop over no items calls nothing, and a map of none gives an empty slice that is not nil, and no error.",
		Ours:      names{"par.TestRangeCoversEveryIndexOnce"},
		Run: func(t *testing.T) {
			check.OK(t, par.Each(t.Context(), []int{}, func(context.Context, int) error { panic("called") }))
			check.OK(t, par.Each(t.Context(), par.Pairs(slices.All([]int{})), func(context.Context, par.Pair[int, int]) error { panic("called") }))
			found, err := par.Map(t.Context(), []int{}, func(context.Context, int) (int, error) { panic("called") })
			check.OK(t, err)
			if found == nil || len(found) != 0 {
				t.Errorf("got %#v", found)
			}
		},
	},
	{
		Name:      "MapChangesItemsInPlace",
		Theirs:    names{"iter.TestMap/mutating inputs is fine, though not recommended", "iter.TestMapErr/mutating inputs is fine, though not recommended"},
		Behaviour: "A map may change the items where they are, by the pointers that the function gets.",
		Different: "The function of Map gets a copy of the item, so that a result cannot depend on what another call has changed; a slice of pointers changes what they point to.",
		Run: func(t *testing.T) {
			numbers := []int{1, 2, 3}
			found, err := par.Map(t.Context(), numbers, func(_ context.Context, n int) (int, error) { n++; return n, nil })
			check.OK(t, err)
			check.Equal(t, "copies are changed", slices.Equal(found, []int{2, 3, 4}) && slices.Equal(numbers, []int{1, 2, 3}), true)
			pointers := []*int{&numbers[0], &numbers[1], &numbers[2]}
			_, err = par.Map(t.Context(), pointers, func(_ context.Context, n *int) (int, error) { *n++; return 0, nil })
			check.OK(t, err)
			check.Equal(t, "numbers are changed", slices.Equal(numbers, []int{2, 3, 4}), true)
		},
	},
}

// explodeTask panics. It is found by its name in a stack.
//
//go:noinline
func explodeTask(context.Context) error { panic("kaboom") }

// panicOf returns the panic of a Group with this task.
func panicOf(t *testing.T, task func(context.Context) error) *weir.Panic {
	t.Helper()
	g := weir.NewGroup(t.Context(), 1, weir.PanicsAsErrors())
	g.Go(task)
	p, isPanic := errors.AsType[*weir.Panic](g.Wait())
	if !isPanic {
		t.Fatal("no panic")
	}
	return p
}
