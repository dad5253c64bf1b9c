package history_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./history",
		Bugs:   plant.History(),
		Limit:  3 * time.Minute,
		Args:   []string{"-test.run=^TestEveryHistory", "-history.hangs=5s"},
		More:   [][]string{{"-history.rounds=6000"}, {"-history.rounds=300000"}},
	}.Run(t)
}
