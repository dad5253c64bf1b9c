package places_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/verify/places"
)

var (
	programs = flag.Int("places.programs", 0, "how many programs to draw; 0 for 2000, or 1000 under -short")
	seed     = flag.Uint64("places.seed", 1, "what they are drawn from")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source returns the random numbers of the program that bears the number.
func source(number int) *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(number))) }

// runs runs a program a few times, and returns the worst that it saw.
func runs(p *places.Program, n int, o places.Options, r *rand.Rand) (worst places.Outcome) {
	for range n {
		o.Cancels = r.IntN(4)
		seen := places.Run(p, o, r.IntN)
		worst.Extra, worst.Begun, worst.Roots = max(worst.Extra, seen.Extra), max(worst.Begun, seen.Begun), max(worst.Roots, seen.Roots)
		if seen.Problem != "" {
			worst.Problem, worst.Trace = seen.Problem, seen.Trace
			break
		}
	}
	return worst
}

func TestEveryDrawnProgramEndsAndKeepsTheInvariants(t *testing.T) {
	n := *programs
	if n == 0 {
		n = 2000
		if testing.Short() {
			n = 1000
		}
	}
	var extra, begun int
	for i := range n {
		r := source(i)
		p := places.Draw(r.IntN)
		seen := runs(p, 4, places.Options{}, r)
		if seen.Problem != "" {
			t.Fatalf("%s: %v\nmade smaller:\n%s", seen.Problem, p, shrink(i, places.Options{}, 200))
		}
		extra, begun = max(extra, seen.Extra), max(begun, seen.Begun)
	}
	t.Logf("%d programs; at most %d extra places, %d tasks begun beyond the limit", n, extra, begun)
}

// shrink describes a smaller program that fails like the program of that number.
func shrink(number int, o places.Options, tries int) string {
	r := source(number)
	var choices []int
	places.Draw(func(n int) int {
		choices = append(choices, r.IntN(n))
		return choices[len(choices)-1]
	})
	o.Trace = true
	try := func(choices []int) (*places.Program, places.Outcome) {
		p := places.Draw(func(n int) (choice int) {
			if len(choices) > 0 {
				choice, choices = min(choices[0], n-1), choices[1:]
			}
			return choice
		})
		return p, runs(p, tries, o, source(0))
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(choices); i++ {
			lower := slices.Clone(choices)
			lower[i] /= 2
			for _, smaller := range [][]int{slices.Delete(slices.Clone(choices), i, i+1), lower} {
				if slices.Equal(smaller, choices) {
					continue
				}
				if _, seen := try(smaller); seen.Problem != "" {
					choices, again = smaller, true
					break
				}
			}
		}
	}
	p, seen := try(choices)
	return p.String() + "\n" + seen.Problem + "\n" + strings.Join(seen.Trace, "\n")
}

func TestAFailureIsMadeSmaller(t *testing.T) {
	small := shrink(3, places.Options{Mistake: places.LeavesStuckPools}, 20)
	if p, _, _ := strings.Cut(small, "\n"); !strings.Contains(small, places.Deadlock) || len(p) > 100 {
		t.Errorf("not small: %s", small)
	}
}
