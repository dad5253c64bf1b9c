package plant_test

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryBugFitsTheTextAndHasANameOfItsOwn(t *testing.T) {
	_, err := plant.Sources(plant.All())
	check.OK(t, err)
	for _, bug := range plant.All() {
		if !slices.ContainsFunc(bug.Edits, func(e plant.Edit) bool { return strings.Contains(e.New, "PLANTED") }) {
			t.Errorf("%s is always in force", bug.Name)
		}
	}
}

// The tests of this package import all of the library, which later builds have from the cache.
func TestAllMistakesAreOneBuild(t *testing.T) {
	check.NeedsProofs(t, plant.Needs)
	plant.Test(t, "./internal/plant")
}
