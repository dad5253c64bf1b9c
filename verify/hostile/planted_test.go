package hostile_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.MustFind(t, "./hostile", plant.Hostile(), 10*time.Minute, "-test.short", "-test.failfast")
}
