package peers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// concCases show what no test of the library shows as a whole.
var concCases = cases{
	"PanicWithoutAnErrorWrapsNone": func(t *testing.T) {
		if p := panicOf(t, explodeTask); errors.Unwrap(p) != nil || errors.Is(p, errBoom) {
			t.Errorf("got %v, which wraps %v", p, errors.Unwrap(p))
		}
	},
	"StackOfAPanic": func(t *testing.T) {
		p := panicOf(t, explodeTask)
		lines := strings.Split(string(p.Stack), "\n")
		// The goroutine, the panic and its place, and then the caller of panic.
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "panic(") || !strings.Contains(lines[3], "peers_test.explodeTask") {
			t.Errorf("stack:\n%s", p.Stack)
		}
	},
	"IteratorIsUsedAgain": func(t *testing.T) {
		limit := par.Limit(9)
		for _, items := range []int{3, 9, 20} {
			var running check.Gauge
			nap := func(context.Context, int) error { nap(&running); return nil }
			check.OK(t, par.Each(t.Context(), make([]int, items), nap, limit))
			check.Equal(t, "ran at most", running.Peak.Load(), int64(min(items, 9)))
		}
	},
	"LoopOverNothing": func(t *testing.T) {
		check.OK(t, par.Each(t.Context(), []int{}, func(context.Context, int) error { panic("called") }))
		check.OK(t, par.Each(t.Context(), par.Pairs(slices.All([]int{})), func(context.Context, par.Pair[int, int]) error { panic("called") }))
		found, err := par.Map(t.Context(), []int{}, func(context.Context, int) (int, error) { panic("called") })
		check.OK(t, err)
		if found == nil || len(found) != 0 {
			t.Errorf("got %#v", found)
		}
	},
	"MapChangesItemsInPlace": func(t *testing.T) {
		numbers := []int{1, 2, 3}
		found, err := par.Map(t.Context(), numbers, func(_ context.Context, n int) (int, error) { n++; return n, nil })
		check.OK(t, err)
		check.Equal(t, "copies are changed", slices.Equal(found, []int{2, 3, 4}) && slices.Equal(numbers, []int{1, 2, 3}), true)
		pointers := []*int{&numbers[0], &numbers[1], &numbers[2]}
		_, err = par.Map(t.Context(), pointers, func(_ context.Context, n *int) (int, error) { *n++; return 0, nil })
		check.OK(t, err)
		check.Equal(t, "numbers are changed", slices.Equal(numbers, []int{2, 3, 4}), true)
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
