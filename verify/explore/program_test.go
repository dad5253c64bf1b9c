package explore_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/explore"
	"github.com/64ed045f/weir/verify/internal/plant"
)

var (
	deep     = flag.Bool("explore.deep", false, "search with more preemptions, and at random")
	scene    = flag.String("explore.scene", "", "explore this scene alone")
	schedule = flag.String("explore.schedule", "", "replay one execution of the scene, such as 1@47.0@60")
	most     = flag.Int("explore.most", usual(75, 1_000), "visit so many executions of each scene, before those at random, without -explore.deep")
	random   = flag.Int("explore.random", -1, "make so many random executions of each scene; negative for the usual number")
	seed     = flag.Uint64("explore.seed", 1, "seed of the first random execution of each scene")
	only     = flag.String("explore.bug", "", "look for this planted bug alone, in all scenes")
)

// atRandom returns the arguments for random executions, from the flags.
func atRandom() []string {
	args := []string{fmt.Sprintf("-explore.seed=%d", *seed)}
	if *random >= 0 {
		args = append(args, fmt.Sprintf("-explore.random=%d", *random))
	}
	return args
}

// dir is where the test binaries stand, for all tests of this package.
var dir string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if dir, err = os.MkdirTemp("", "explore"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir) //nolint:errcheck // the system cleans up after us
		os.Exit(code)
	}))
}

// lasting is a test whose folders stay until all tests have ended.
type lasting struct{ testing.TB }

func (l lasting) TempDir() string {
	sub, err := os.MkdirTemp(dir, "")
	check.Must(l, err)
	return sub
}

var (
	build    sync.Mutex
	programs = map[explore.Part]*plant.Program{}
)

// program returns the rewritten test binary of a package, with every bug in it.
func program(t *testing.T, part explore.Part) *plant.Program {
	t.Helper()
	build.Lock()
	defer build.Unlock()
	if programs[part] == nil {
		sources, err := part.Sources(part.Bugs())
		check.Must(t, err)
		programs[part] = plant.Build(lasting{t}, part.Package(), sources, "test", "-c", "-vet=off")
	}
	return programs[part]
}

// explored returns every package with scenes.
func explored(t *testing.T) []explore.Part {
	t.Helper()
	parts, err := explore.Parts()
	check.Must(t, err)
	if len(parts) < 2 {
		t.Fatalf("only %d packages have scenes", len(parts))
	}
	return parts
}

// partOf returns the package with a scene; for a name that is made up of parts, the engine.
func partOf(t *testing.T, scene string) explore.Part {
	t.Helper()
	for _, part := range explored(t) {
		has, err := part.Has(strconv.Quote(scene))
		check.Must(t, err)
		if has {
			return part
		}
	}
	return "internal/engine"
}

// report is what the program prints of each scene.
type report struct {
	Scene                      string
	Complete                   int
	Executions, GivenUp, Steps int
	Failure                    *failure
}

type failure struct {
	Message, Schedule       string
	Preemptions, Executions int
}

// run runs the program. It returns the reports, the last of which tells of a failure if
// there is one.
func run(t *testing.T, part explore.Part, bug string, args ...string) (reports []report, outcome plant.Outcome) {
	t.Helper()
	limit := 10 * time.Hour // ends a hang, no more
	if end, ok := t.Deadline(); ok {
		limit = time.Until(end) - 5*time.Second // leaves time to say where
	}
	outcome, err := program(t, part).Run(bug, limit, append([]string{"-test.run=^TestInterleavings$", "-test.timeout=0", "-test.failfast"}, args...)...)
	check.Must(t, err)
	for line := range strings.Lines(outcome.Output) {
		if text, ok := strings.CutPrefix(line, "explored: "); ok {
			var r report
			check.Must(t, json.Unmarshal([]byte(text), &r))
			reports = append(reports, r)
		}
	}
	return reports, outcome
}

// failed returns the failure that ended the program, or nil. It is an error if the program ended in any other way
// than by a verdict of the explorer.
func failed(t *testing.T, reports []report, outcome plant.Outcome) *report {
	t.Helper()
	if !outcome.Failed && !outcome.Hung {
		return nil
	}
	if len(reports) == 0 || reports[len(reports)-1].Failure == nil || strings.Contains(outcome.Output, "not so in the replay") {
		t.Fatalf("no verdict:\n%s", outcome.Output)
	}
	return &reports[len(reports)-1]
}
