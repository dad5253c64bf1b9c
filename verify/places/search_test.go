package places_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/64ed045f/weir/verify/internal/draw"
	"github.com/64ed045f/weir/verify/places"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "2000"); err != nil { // the command line may still say otherwise
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// source returns the random numbers of the program that bears the number.
func source(number int) func(n int) int { return rand.New(rand.NewPCG(1, uint64(number))).IntN }

// runs runs a program a few times, and returns the worst that it saw.
func runs(p *places.Program, n int, o places.Options, choose func(n int) int) (worst places.Outcome) {
	for range n {
		o.Cancels = choose(4)
		seen := places.Run(p, o, choose)
		worst.Extra, worst.Begun, worst.Roots = max(worst.Extra, seen.Extra), max(worst.Begun, seen.Begun), max(worst.Roots, seen.Roots)
		if seen.Problem != "" {
			worst.Problem, worst.Trace = seen.Problem, seen.Trace
			break
		}
	}
	return worst
}

func TestEveryDrawnProgramEndsAndKeepsTheInvariants(t *testing.T) {
	var extra, begun int
	rapid.Check(t, func(t *rapid.T) {
		choose := func(n int) int { return draw.Below(n).Draw(t, "choice") }
		p := places.Draw(choose)
		seen := runs(p, 4, places.Options{Trace: true}, choose)
		if seen.Problem != "" {
			t.Fatalf("%s: %v\n%s", seen.Problem, p, strings.Join(seen.Trace, "\n"))
		}
		extra, begun = max(extra, seen.Extra), max(begun, seen.Begun)
	})
	t.Logf("at most %d extra places, %d tasks begun beyond the limit", extra, begun)
}
