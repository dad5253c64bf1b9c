package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang is how long the program of a test may take, which decides nothing.
const hang = 3 * time.Minute

// patience is how long nothing may be completed in a soak with one small load.
const patience = "4s"

func TestSoakFindsPlantedBugs(t *testing.T) {
	check.NeedsProofs(t, plant.Needs)
	program := plant.Main(t, "./soak", plant.Soak())
	soak := func(t *testing.T, bug, load, length string) plant.Outcome {
		t.Helper()
		outcome, err := program.Run(bug, hang, "-for", length, "-settings", "plain", "-loads", load, "-patience", patience)
		check.Must(t, err)
		return outcome
	}
	for _, find := range quickFinds {
		t.Run(find.name, func(t *testing.T) {
			if !slices.ContainsFunc(plant.Soak(), func(b plant.Bug) bool { return b.Name == find.name }) {
				t.Fatal("there is no such bug")
			}
			if outcome := soak(t, "", find.load, "1s"); outcome.Failed || outcome.Hung {
				t.Fatalf("the load breaks without a bug\n%s", outcome.Output)
			}
			// Which breach it is depends on which check comes first: a lost task, say, is missing in the books, or a call waits for it.
			outcome := soak(t, find.name, find.load, "30s")
			if !outcome.Failed || !strings.Contains(outcome.Output, "BROKEN under plain") {
				t.Fatalf("it was not found in %v\n%s", outcome.Took, outcome.Output)
			}
			if breach := firstBreach(outcome.Output); !find.breach.MatchString(breach) {
				t.Fatalf("found in %v, but by something else: %s\n%s", outcome.Took, breach, outcome.Output)
			}
			t.Logf("found in %v: %s", outcome.Took, firstBreach(outcome.Output))
		})
	}
}

var breachLine = regexp.MustCompile(`(?m)^soak: breach in load (.*)$`)

func firstBreach(output string) string {
	if line := breachLine.FindStringSubmatch(output); line != nil {
		return line[1]
	}
	return "no breach is told"
}

// quickFinds are bugs that a soak mostly finds within a second, or by losing its patience.
var quickFinds = []struct {
	name, load string
	breach     *regexp.Regexp
}{
	{"cancelled-drops-grant", "submit", regexp.MustCompile("was rejected|has started 2 times|a closed pool still has something|it hangs")},
	{"hand-over-overtakes", "sleep", regexp.MustCompile("a pool has counted|it hangs")},
	{"resize-does-not-gate", "resize", regexp.MustCompile(": the limit ")},
	{"lends-to-the-queue", "programs", regexp.MustCompile("nothing has happened|beyond the limits|it hangs")},
	{"permit-kept-at-rest", "submit", regexp.MustCompile("it hangs")},
	{"probe-asks-no-worker", "programs", regexp.MustCompile("a task has run since .* before it was given")},
	{"expires-early", "expire", regexp.MustCompile("has expired after")},
	{"value-closed-late", "fault", regexp.MustCompile("a value is opened next to")},
}
