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
	for i := range 4000 {
		choose := source(i)
		if seen := runs(places.Draw(choose), 4, o, choose); seen.Problem != "" {
			t.Logf("program %d: %s", i+1, seen.Problem)
			return
		}
	}
	t.Errorf("4000 programs do not show the mistake (%+v)", o)
}
