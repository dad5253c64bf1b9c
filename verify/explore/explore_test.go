package explore_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/explore"
	"github.com/64ed045f/weir/verify/internal/plant"
)

// quickRandom is how many random executions of a scene the quick search runs at its end.
var quickRandom = usual(20, 60)

// usual is how far a search goes: less where users run all tests, more with the proofs.
func usual(everyday, proofs int) int {
	if os.Getenv(check.ProofsEnv) == "" {
		return everyday
	}
	return proofs
}

// processes is into how many processes the scenes of the engine are divided; the others have one.
const processes = 4

// needsAll skips a test if one scene or one bug is looked at.
func needsAll(t *testing.T) {
	t.Helper()
	if *scene != "" || *only != "" {
		t.Skip("one scene or one bug is looked at")
	}
}

func TestNoInterleavingBreaksAPromise(t *testing.T) {
	needsAll(t)
	var total report
	complete := map[int]int{} // scenes by the number of preemptions with which all executions were visited
	var cpu time.Duration
	var mu sync.Mutex
	t.Run("scenes", func(t *testing.T) {
		each := func(part explore.Part, i, n int) {
			t.Run(fmt.Sprintf("%s %d", part, i), func(t *testing.T) {
				t.Parallel()
				args := []string{fmt.Sprintf("-explore.part=%d", i), fmt.Sprintf("-explore.parts=%d", n), fmt.Sprintf("-explore.deep=%t", *deep)}
				switch {
				case *deep:
				case testing.Short():
					args = append(args, "-explore.bound=1")
				default:
					args = append(args, fmt.Sprintf("-explore.most=%d", *most), fmt.Sprintf("-explore.random=%d", quickRandom))
				}
				reports, outcome := run(t, part, "", append(args, atRandom()...)...)
				if outcome.Failed || outcome.Hung || len(reports) == 0 {
					t.Error(outcome.Output)
				}
				mu.Lock()
				defer mu.Unlock()
				cpu += outcome.CPU
				for _, r := range reports {
					complete[r.Complete]++
					total.Executions += r.Executions
					total.GivenUp += r.GivenUp
					total.Steps += r.Steps
				}
			})
		}
		for _, part := range explored(t) {
			n := 1
			if part == "internal/engine" {
				n = processes
			}
			for i := range n {
				each(part, i, n)
			}
		}
	})
	t.Logf("scenes by preemptions %v, %d executions, %d of them given up, %d steps, %.1f s of a processor",
		complete, total.Executions, total.GivenUp, total.Steps, cpu.Seconds())
}

// With -explore.scene, and with a bug in force if -explore.bug names one.
func TestOneScene(t *testing.T) {
	if *scene == "" {
		t.Skip("all scenes are looked at")
	}
	args := []string{"-test.v", "-explore.scene=" + *scene, "-explore.schedule=" + *schedule, fmt.Sprintf("-explore.deep=%t", *deep)}
	reports, outcome := run(t, partOf(t, *scene), *only, append(args, atRandom()...)...)
	t.Log(outcome.Output)
	if outcome.Failed || outcome.Hung || *schedule == "" && len(reports) == 0 {
		t.Fail()
	}
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	if *scene != "" {
		t.Skip("one scene is looked at")
	}
	if *only == "" {
		check.NeedsProofs(t, plant.Needs)
	}
	known := 0
	for _, bug := range plant.LockFree() {
		if *only == "" && (bug.Scene == "") == (bug.Beyond == "") {
			t.Errorf("the bug %s must have a scene, or a reason to have none: look for it by -explore.bug=%[1]s", bug.Name)
			continue
		}
		if *only != "" && *only != bug.Name {
			continue
		}
		known++
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			if bug.Beyond != "" && !*deep && *only == "" {
				t.Skip(bug.Beyond)
			}
			begin := time.Now()
			found, executions := hunt(t, bug)
			switch {
			case found != nil:
			case bug.Beyond != "":
				t.Skipf("not found in %d executions", executions)
			default:
				t.Fatalf("not found in %d executions: %s", executions, bug.Breaks)
			}
			message, _, _ := strings.Cut(found.Failure.Message, "\n")
			t.Logf("%s: %s, -explore.schedule=%s, %d preemptions, execution %d, %.1f s",
				found.Scene, message, found.Failure.Schedule, found.Failure.Preemptions, executions, time.Since(begin).Seconds())
		})
	}
	if known == 0 {
		t.Errorf("there is no bug %q", *only)
	}
}

// hunt looks for a bug where a run has found it before, else in all scenes, by fewest preemptions.
func hunt(t *testing.T, bug plant.Bug) (found *report, executions int) {
	t.Helper()
	look := func(args ...string) bool {
		reports, outcome := run(t, explore.Home(bug), bug.Name, args...)
		for _, r := range reports {
			executions += r.Executions
		}
		found = failed(t, reports, outcome)
		return found != nil
	}
	if bug.Scene != "" && *only == "" {
		look("-explore.scene="+bug.Scene, "-explore.deep", "-explore.random=0", "-explore.most=300000")
		return found, executions
	}
	for bound := range 3 {
		if look(fmt.Sprintf("-explore.bound=%d", bound)) {
			return found, executions
		}
	}
	switch {
	case *deep:
		look(append(atRandom(), "-explore.deep")...)
	case *random > 0:
		look(append(atRandom(), "-explore.most=1")...)
	}
	return found, executions
}

// Nearly all executions here are random. In other searches those follow at the end.
func TestRandomSearchFindsPlantedBugs(t *testing.T) {
	needsAll(t)
	check.NeedsProofs(t, plant.Needs)
	for _, bug := range plant.LockFree() {
		if bug.Scene == "" || bug.Rare {
			continue
		}
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			reports, outcome := run(t, explore.Home(bug), bug.Name, "-explore.scene="+bug.Scene, "-explore.most=1", "-explore.random=20000")
			found := failed(t, reports, outcome)
			if found == nil {
				t.Fatal("not found")
			}
			t.Logf("%s: execution %d, %.1f s of a processor", found.Scene, found.Failure.Executions, outcome.CPU.Seconds())
		})
	}
}

// A schedule that a run has printed leads to the same end, and to none without the bug.
func TestAScheduleReplaysTheFailure(t *testing.T) {
	needsAll(t)
	const part = explore.Part("internal/engine")
	const bug, where = "ready-before-permits", "two submitters, one worker"
	reports, outcome := run(t, part, bug, "-explore.scene="+where)
	found := failed(t, reports, outcome)
	if found == nil {
		t.Fatalf("the bug %s is not found in %q", bug, where)
	}
	replay := []string{"-explore.scene=" + where, "-explore.schedule=" + found.Failure.Schedule}
	_, again := run(t, part, bug, replay...)
	if !again.Failed || !strings.Contains(again.Output, strings.SplitN(found.Failure.Message, "\n", 2)[0]) || !strings.Contains(again.Output, "submit.go:") {
		t.Errorf("the replay of %s does not tell of %s:\n%s", found.Failure.Schedule, found.Failure.Message, again.Output)
	}
	if _, without := run(t, part, "", replay...); strings.Contains(without.Output, found.Failure.Message) {
		t.Errorf("it fails without the bug, too:\n%s", without.Output)
	}
}
