package hostile_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that hangs, and decides nothing else.
const patience = 2 * time.Minute

// within ends the program, with all stacks, if f hangs; in a bubble at once.
func within(f func()) { check.Within(patience, f) }

// until waits for an event that no channel announces. In a bubble a look at it costs only the bubble's time.
func until(condition func() bool) {
	within(func() {
		for !condition() {
			time.Sleep(100 * time.Microsecond)
		}
	})
}

// atMost fails the test if there is more of something than there may be.
func atMost[T int | int64](tb testing.TB, what string, got, limit T) {
	if got > limit {
		tb.Helper()
		tb.Errorf("%s: got %d, more than %d", what, got, limit)
	}
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./hostile",
		Bugs:   plant.Read("hostile"),
		Limit:  10 * time.Minute,
		Args:   []string{"-test.short"},
	}.Run(t)
}
