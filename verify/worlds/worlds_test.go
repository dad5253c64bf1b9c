package worlds_test

import (
	"io"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/internal/rounds"
)

var drawn = rounds.Flags("worlds", time.Minute)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	goleak.VerifyTestMain(m)
}

func TestEachWorldComesToRestWithAllItsPlaces(t *testing.T) {
	drawn.Each(t, check.Size(time.Second/2, time.Second, 10*time.Second), func(seed uint64) {
		if seed%2 == 0 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // then a seed repeats its world
		}
		synctest.Test(t, func(t *testing.T) { newWorld(t, seed).run() })
	})
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./worlds",
		Bugs: plant.Only(plant.Read("places"), "waits-for-place", "exit-keeps-lent-place", "return-takes-two",
			"nested-limit-lends-nothing", "direct-subtask-enters", "direct-member-stays-taken", "bell-rings-for-worker"),
		Limit: 50 * time.Second,
		Args:  []string{"-test.run=^TestEachWorldComesToRest"},
		More:  [][]string{{"-worlds.for=5s"}, {"-worlds.for=30s"}},
	}.Run(t)
}
