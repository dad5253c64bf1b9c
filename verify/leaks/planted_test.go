package leaks_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./leaks",
		Bugs:   plant.Leaks(),
		Limit:  time.Minute,
		Args:   []string{"-test.short", "-test.run=Kept|Flat"},
	}.Run(t)
}
