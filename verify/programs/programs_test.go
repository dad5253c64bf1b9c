package programs_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/programs"
)

var (
	seed       = flag.Uint64("programs.seed", 0, "the number of the first program; 0 stands for any")
	number     = flag.Int("programs.n", 0, "run so many programs; 0 stands for as many as the time allows")
	length     = flag.Duration("programs.for", 2*time.Second, "how long to run programs")
	times      = flag.Int("programs.times", 1, "how often each program runs")
	given      = flag.String("programs.json", "", "run this program")
	patience   = flag.Duration("programs.patience", 5*time.Second, "a program in which nothing happens for so long hangs")
	knownTimes = flag.Int("programs.known", 200, "how often each of the known programs runs")
	smaller    = flag.Duration("programs.smaller", 10*time.Second, "how long to look for a smaller program that fails")
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	goleak.VerifyTestMain(m)
}

//go:embed testdata/known.json
var knownPrograms []byte

// TestKnownProgramsEndAsOnPlainGoroutines runs the programs of testdata/known.json, which were drawn once and have found what
// few of the drawn ones find: each has lost a task, with a mistake in it that was planted, or was not.
func TestKnownProgramsEndAsOnPlainGoroutines(t *testing.T) {
	var known []*programs.Program
	check.Must(t, json.Unmarshal(knownPrograms, &known))
	for i, p := range known {
		t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, p, *knownTimes) })
	}
}

func test(t *testing.T, p *programs.Program, times int) {
	if v := judge().Times(p, times); v.Wrong != nil {
		t.Error(judge().Tell(p, v, *smaller))
	}
}

func judge() programs.Judge { return programs.Judge{Patience: *patience, Alone: true} }

func TestProgramsEndAsOnPlainGoroutines(t *testing.T) {
	if *given != "" {
		p, err := programs.Read([]byte(*given))
		check.Must(t, err)
		test(t, p, *times)
		return
	}
	from := *seed
	if from == 0 {
		from = rand.Uint64N(1 << 40)
	}
	if testing.Short() {
		*length = min(*length, time.Second/2)
	}
	n, most := 0, programs.Excess{}
	for end := time.Now().Add(*length); !t.Failed() && (n < *number || *number == 0 && time.Now().Before(end)); n++ {
		this := from + uint64(n)
		p := programs.Draw(this)
		v := judge().Times(p, *times)
		if v.Wrong != nil {
			t.Errorf("try -programs.seed %d -programs.n 1 -programs.times 500\n%s", this, judge().Tell(p, v, *smaller))
		}
		for i := range most {
			most[i] = max(most[i], v.Over[i])
		}
	}
	t.Logf("%d programs from seed %d; at most %v beyond the limits", n, from, most)
}
