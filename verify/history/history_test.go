package history_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/internal/rounds"
)

// A seed repeats a script; what happens then is the scheduler's.
var drawn = rounds.Flags("history", time.Minute)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryHistoryIsThatOfASequentialPool(t *testing.T) {
	// The rounds go through these in blocks.
	processors := []uint64{1, 2, 8, uint64(runtime.GOMAXPROCS(0))}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n, unknown := 0, 0
	drawn.Each(t, check.Size(200*time.Millisecond, time.Second, 2*time.Second), func(seed uint64) {
		n++
		if want := int(processors[seed/50%4]); want != runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(want)
		}
		r := watched(newScript(rand.New(rand.NewPCG(seed, 0))))
		if err := cmp.Or(r.once(), r.counted()); err != nil {
			fail(t, r, seed, err.Error())
		}
		if r.large {
			return
		}
		verdict, info := r.linearizable()
		switch verdict {
		case porcupine.Unknown:
			unknown++
		case porcupine.Illegal:
			fail(t, r, seed, fmt.Sprintf("no sequential pool does this: see %s", draw(t, r, info)))
		}
	})
	if unknown > n/100 {
		t.Errorf("%d of %d histories were too hard to check", unknown, n)
	}
}

// watched plays a script. If the script hangs, it ends the program, with all stacks.
func watched(s *script) *round {
	watchdog := time.AfterFunc(*drawn.Patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("a history hangs: %v\n%.5000s", s, fmt.Sprint(s.clients)))
	})
	defer watchdog.Stop()
	return play(s)
}

func fail(t *testing.T, r *round, seed uint64, why string) {
	t.Helper()
	t.Fatalf("history %d with GOMAXPROCS=%d: %s\n%.10000s", seed, runtime.GOMAXPROCS(0), why, r)
}

// draw writes the checker's picture, and returns the file's name.
func draw(t *testing.T, r *round, info porcupine.LinearizationInfo) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "history.html")
	if err := porcupine.VisualizePath(spec(r.limit, r.queue, r.refusing), info, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./history",
		Bugs: slices.Concat(plant.Read("history"), plant.Only(plant.LockFree(),
			"cancelled-drops-grant", "hand-over-overtakes", "resize-does-not-gate", "permit-kept-at-rest")),
		Limit: 3 * time.Minute,
		Args:  []string{"-test.run=^TestEveryHistory", "-history.patience=5s"},
		More:  [][]string{{"-history.n=6000"}, {"-history.n=300000"}},
	}.Run(t)
}
