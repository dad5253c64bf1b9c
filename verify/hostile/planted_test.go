package hostile_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./hostile",
		Bugs:   plant.Hostile(),
		Limit:  10 * time.Minute,
		Args:   []string{"-test.short"},
	}.Run(t)
}
