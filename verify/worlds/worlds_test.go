package worlds_test

import (
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

var (
	seed   = flag.Uint64("worlds.seed", 0, "the number of the world to run again and again; 0 stands for any")
	number = flag.Int("worlds.n", 0, "run so many worlds; 0 stands for as many as the time allows")
	length = flag.Duration("worlds.for", 0, "how long to run worlds; 0 stands for some seconds")
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	goleak.VerifyTestMain(m)
}

func TestEachWorldComesToRestWithAllItsPlaces(t *testing.T) {
	if *length == 0 {
		*length = check.Size(time.Second/2, 2*time.Second, 10*time.Second)
	}
	from, n := rand.Uint64N(1<<40), 0
	for end := time.Now().Add(*length); !t.Failed() && (n < *number || *number == 0 && time.Now().Before(end)); n++ {
		this := *seed
		if this == 0 {
			this = from + uint64(n)
		}
		processors := runtime.GOMAXPROCS(0)
		if this%2 == 0 {
			runtime.GOMAXPROCS(1) // then a seed repeats its world
		}
		synctest.Test(t, func(t *testing.T) { newWorld(t, this).run() })
		runtime.GOMAXPROCS(processors)
	}
	t.Logf("%d worlds from %d", n, from)
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./worlds",
		Bugs:   plant.Worlds(),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.run=^TestEachWorldComesToRest"},
		More:   [][]string{{"-worlds.for=5s"}, {"-worlds.for=30s"}},
	}.Run(t)
}
