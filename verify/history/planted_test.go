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
		Args:   []string{"-test.run=^TestEveryHistory", "-history.patience=5s"},
		More:   [][]string{{"-history.n=6000"}, {"-history.n=300000"}},
	}.Run(t)
}
