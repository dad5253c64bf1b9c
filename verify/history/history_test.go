package history_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"
)

var (
	rounds = flag.Int("history.rounds", 0, "how many histories to check; 0 for 6000, or 600 under -short")
	seed   = flag.Uint64("history.seed", 1, "what the scripts are drawn from; what happens then is the scheduler's")
	hangs  = flag.Duration("history.hangs", time.Minute, "after how long one history counts as hanging")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The rounds go through these in blocks.
var processors = []int{1, 2, 8}

func TestEveryHistoryIsThatOfASequentialPool(t *testing.T) {
	n := *rounds
	if n == 0 {
		n = 6000
		if testing.Short() {
			n = 600
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const block = 50
	unknown := 0
	for i := range n {
		if i%block == 0 {
			runtime.GOMAXPROCS(processors[i/block%len(processors)])
		}
		s := newScript(rand.New(rand.NewPCG(*seed, uint64(i))))
		r := watched(s)
		if err := r.once(); err != nil {
			fail(t, r, i, err.Error())
		}
		verdict, info := r.linearizable()
		switch verdict {
		case porcupine.Unknown:
			unknown++
		case porcupine.Illegal:
			fail(t, r, i, fmt.Sprintf("no sequential pool does this: see %s", draw(t, r, info)))
		}
	}
	if unknown > 0 {
		t.Logf("%d of %d histories were too hard to check", unknown, n)
	}
	if unknown > n/100 {
		t.Error("these are too many")
	}
}

// watched plays a script. If the script hangs, it ends the program, with all stacks.
func watched(s *script) *round {
	watchdog := time.AfterFunc(*hangs, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("a history hangs: %v\n%v", s, s.clients))
	})
	defer watchdog.Stop()
	return play(s)
}

func fail(t *testing.T, r *round, number int, why string) {
	t.Helper()
	t.Fatalf("history %d with GOMAXPROCS=%d: %s\n%v", number, runtime.GOMAXPROCS(0), why, r)
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
