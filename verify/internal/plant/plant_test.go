package plant_test

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryBugFitsTheTextAndHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, bugs := range plant.All() {
		sources, err := plant.Sources(bugs)
		if err != nil {
			t.Error(err)
		} else if len(sources) < 2 {
			t.Error("no file is changed")
		}
		for _, bug := range bugs {
			if seen[bug.Name] {
				t.Errorf("two bugs have the name %s", bug.Name)
			}
			seen[bug.Name] = true
			if !slices.ContainsFunc(bug.Edits, func(e plant.Edit) bool { return strings.Contains(e.New, "PLANTED") }) {
				t.Errorf("%s is always in force", bug.Name)
			}
		}
	}
}
