package peers_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./peers",
		Bugs:   plant.Peers(),
		Limit:  time.Minute,
		Args:   []string{"-test.run=^TestCases$"},
	}.Run(t)
}
