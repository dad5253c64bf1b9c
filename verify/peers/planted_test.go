package peers_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

// TestEveryPlantedBugIsFound runs the cases, and then the tests of the library that cases name.
func TestEveryPlantedBugIsFound(t *testing.T) {
	var ours []plant.Place
	for _, folder := range library {
		if tests := oursIn(folder); len(tests) > 0 {
			ours = append(ours, plant.Place{
				Folder: path.Join(plant.Library, folder),
				Args:   []string{"-test.short", "-test.run=^(" + strings.Join(tests, "|") + ")$"},
			})
		}
	}
	plant.Proof{
		Folder: "./peers",
		Bugs:   plant.Peers(),
		Limit:  time.Minute,
		Args:   []string{"-test.run=^TestCases$"},
		Also:   ours,
	}.Run(t)
}

// oursIn returns the tests of a package of the library that cases name, without their subtests.
func oursIn(folder string) []string {
	packageName := folder
	if folder == "" {
		packageName = path.Base(plant.Library)
	}
	var tests []string
	for _, peer := range all {
		for _, c := range peer.Cases {
			for _, name := range c.Ours {
				if test, ok := strings.CutPrefix(name, packageName+"."); ok {
					test, _, _ = strings.Cut(test, "/")
					tests = append(tests, test)
				}
			}
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}
