package leaks_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.MustFind(t, "./leaks", plant.Leaks(), time.Minute, "-test.short", "-test.run", "Kept|Flat")
}
