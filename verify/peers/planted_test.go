package peers_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.MustFind(t, "./peers", plant.Peers(), time.Minute, "-test.run", "^TestCases$", "-test.failfast")
}
