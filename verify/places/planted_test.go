package places_test

import (
	"testing"

	"github.com/64ed045f/weir/verify/places"
)

// A program hangs for each mistake except for LendsTwice, which lets more tasks run than the limit allows.
func TestEveryPlantedMistakeIsFound(t *testing.T) {
	for _, mistake := range []places.Mistake{
		places.LendsToQueue, places.LendsToSubtasks, places.ReturnsInLine, places.LendsTwice, places.CountsEachWait,
		places.LosesLentPlaces, places.LeavesStuckPools, places.KeepsExtraPlaces,
	} {
		t.Run(string(mistake), func(t *testing.T) {
			find(t, places.Options{Mistake: mistake})
			if mistake != places.LendsTwice {
				find(t, places.Options{Mistake: mistake, OnlyHangs: true})
			}
		})
	}
}

func find(t *testing.T, o places.Options) {
	t.Helper()
	o.Cancels = 1
	shows := func(p *places.Program) (found bool) {
		explore(2000, func(choose func(n int) int) bool {
			seen := places.Run(p, o, choose)
			if found = seen.Problem != ""; found {
				t.Logf("%s: %v", seen.Problem, p)
			}
			return !found
		})
		return found
	}
	for _, hand := range hands {
		if hand.ends && shows(&places.Program{Limits: hand.limits, Roots: hand.tasks}) {
			return
		}
	}
	found := false
	tiny{2, []int{2, 1}, 4}.each(func(p *places.Program) bool {
		found = shows(p)
		return !found
	})
	if !found {
		t.Errorf("no program shows the mistake (%+v)", o)
	}
}
