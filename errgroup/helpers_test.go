package errgroup_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) {
	check.Main(m, children, func() int {
		n := check.Goroutines("github.com/64ed045f/weir/errgroup_test.TestLimitZeroLetsNothingIn") // it waits forever, as it should
		if check.Race {
			n *= 2 // by way of another one
		}
		return n
	})
}

// goroutines counts those that groups have started.
func goroutines() int { return check.Goroutines("github.com/64ed045f/weir/internal/lane.(*Group)") }

// noneLeft fails the test if goroutines of groups are left. Those that are about to
// end get the time for it: they are still counted.
func noneLeft(t testing.TB) {
	t.Helper()
	if !check.Tries(1<<12, func() bool { return goroutines() == 0 }) {
		t.Errorf("goroutines are left:\n%s", check.Stacks())
	}
}

// limited returns a group with a limit, or without one if it is negative.
func limited(limit int) *errgroup.Group {
	g := new(errgroup.Group)
	g.SetLimit(limit)
	return g
}

// limits are those that most tests are run with.
var limits = []int{-1, 1, 2, 8, 1000}

var errBoom = errors.New("boom")

func succeed() error { return nil }

func fail() error { return errBoom }

func explode() error { panic(errBoom) }

func exit() error {
	runtime.Goexit()
	return nil
}
