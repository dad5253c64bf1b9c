package keeper_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./keeper",
		Bugs:   plant.Reuse(),
		Limit:  30 * time.Second,
		Args:   []string{"-test.run=^TestAKeeper"},
		More:   plant.Rapid("200", "3000", "60000", "200000"),
	}.Run(t)
}
