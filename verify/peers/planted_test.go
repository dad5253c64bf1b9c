package peers_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/peers"
)

// TestEveryPlantedBugIsFound runs the cases, and then the tests of the library that the page names.
func TestEveryPlantedBugIsFound(t *testing.T) {
	var ours []plant.Place
	for _, folder := range library {
		if tests := oursIn(page(t), folder); len(tests) > 0 {
			ours = append(ours, plant.Place{
				Folder: path.Join(plant.Library, folder),
				Args:   []string{"-test.short", "-test.run=^(" + strings.Join(tests, "|") + ")$"},
			})
		}
	}
	plant.Proof{
		Folder: "./peers",
		Bugs: append(plant.Read("peers", "peers_pools"), plant.Only(plant.Read("faces", "faces_groups"), // what the model must find as well
			"batch-panic-cancels-nothing", "batch-errors-unsorted", "pool-unrun-member-forgotten", "group-limit-serves-no-waiter")...),
		Limit: time.Minute,
		Args:  []string{"-test.run=^TestCases$"},
		Also:  ours,
	}.Run(t)
}

// oursIn returns the tests of a package of the library that the page names, without their subtests.
func oursIn(sections []peers.Section, folder string) []string {
	packageName := folder
	if folder == "" {
		packageName = path.Base(plant.Library)
	}
	var tests []string
	for _, s := range sections {
		for _, c := range s.Cases {
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
