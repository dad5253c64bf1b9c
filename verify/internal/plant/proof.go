package plant

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// Place has tests that look for planted bugs.
type Place struct {
	Folder string   // of this module, such as ./model, or a package of the library by its import path
	Args   []string // for the test binary
}

// Proof is how the tests of a folder show that they find what is planted for them.
type Proof struct {
	Folder string        // of this module, such as ./model
	Bugs   []Bug         // which its tests must find
	Limit  time.Duration // for one run; a run that hangs has found nothing
	Args   []string      // for the test binary
	// Also are other places, where each bug is tried that the tests of the folder do not find.
	Also []Place
	// More are other arguments for the tests of the folder: each bug gets those of the first run, then, while it is not found, there and in the
	// other places, those of the second, and so on. Without a bug only those of the first run are tried, as the others take too long.
	More [][]string
}

// Needs says why a test with planted mistakes runs only with [check.ProofsEnv].
const Needs = "a method and each mistake are a program to build and to run, which says something new only when one of them has changed"

// Run builds the tests with all mistakes in the library. They must pass while none is in force, and fail with each of its bugs. It skips the test
// in a run of that very build, and without [check.ProofsEnv].
func (p Proof) Run(t *testing.T) {
	t.Helper()
	if _, planted := os.LookupEnv(Env); planted {
		t.Skip("builds and runs the others")
	}
	check.NeedsProofs(t, Needs)
	type search struct {
		program *Program
		args    []string
	}
	var searches []search
	for i, place := range append([]Place{{p.Folder, p.Args}}, p.Also...) {
		args := place.Args
		if i == 0 && len(p.More) > 0 {
			args = append(slices.Clip(args), p.More[0]...)
		}
		program := Test(t, place.Folder)
		if outcome := p.try(t, program, "", args); outcome.Failed || outcome.Hung {
			t.Fatalf("%s without a bug: failed %v, hung %v\n%s", place.Folder, outcome.Failed, outcome.Hung, outcome.Output)
		}
		searches = append(searches, search{program, args})
	}
	for _, args := range p.More[min(1, len(p.More)):] {
		searches = append(searches, search{searches[0].program, append(slices.Clip(p.Args), args...)})
	}
	for _, bug := range p.Bugs {
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			var outcome Outcome
			for _, s := range searches {
				if outcome = p.try(t, s.program, bug.Name, s.args); outcome.Failed {
					t.Logf("found after %v: %s", outcome.Took.Round(time.Millisecond), reason.FindString(outcome.Output))
					return
				}
			}
			t.Errorf("not found: with it, %s\n%s", bug.Breaks, outcome.Output)
		})
	}
}

func (p Proof) try(t *testing.T, program *Program, bug string, args []string) Outcome {
	t.Helper()
	outcome, err := program.Run(bug, p.Limit, append([]string{"-test.failfast"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// reason is the line that says what the test found.
var reason = regexp.MustCompile(`(?m)^.*(\[rapid\] .* after \d+ tests|history \d+ with|a history hangs|--- FAIL: |panic: |fatal error: |goleak).*$`)

// Rapid returns arguments for tests that use rapid: so many programs of each machine.
func Rapid(checks ...string) (more [][]string) {
	for _, n := range checks {
		more = append(more, []string{"-rapid.checks=" + n, "-rapid.nofailfile", "-rapid.shrinktime=0s"})
	}
	return more
}
