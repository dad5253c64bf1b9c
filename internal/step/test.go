package step

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// settings says what [Test] does in a package that was rewritten.
type settings struct {
	Deep     bool
	Scene    string // if not empty, the only scene
	Schedule string // if not empty, the only execution of it
	Bound    int    // the most preemptions; a negative number stands for the scene's own
	Most     int    // the most executions of a scene, not counting random ones; 0 for no bound
	Random   int    // random executions of each scene; a negative number stands for the default
	Seed     uint64
	Part     int // run every Parts-th scene, beginning with this one
	Parts    int
}

// register adds the flags to a set.
func (f *settings) register(set *flag.FlagSet) {
	set.BoolVar(&f.Deep, "explore.deep", false, "allow as many preemptions as each scene has for a deep search, and go on at random")
	set.StringVar(&f.Scene, "explore.scene", "", "explore one scene alone")
	set.StringVar(&f.Schedule, "explore.schedule", "", "replay one execution of -explore.scene step by step, such as 1@47.0@60")
	set.IntVar(&f.Bound, "explore.bound", -1, "allow at most so many preemptions")
	set.IntVar(&f.Most, "explore.most", 0, "end the search of a scene after so many executions, if not 0")
	set.IntVar(&f.Random, "explore.random", -1, "make so many random executions of each scene")
	set.Uint64Var(&f.Seed, "explore.seed", 1, "seed of the first random execution")
	set.IntVar(&f.Part, "explore.part", 0, "explore one part of the scenes alone, counted from 0")
	set.IntVar(&f.Parts, "explore.parts", 1, "how many parts there are")
}

var flags = func() *settings {
	f := new(settings)
	f.register(flag.CommandLine)
	return f
}()

// report is what [Test] prints for each scene: a line of JSON behind mark, which the explorer reads.
type report struct {
	Scene string
	Took  time.Duration
	Result
}

// mark begins the line of a report.
const mark = "explored: "

// Ordinary is how often a scene runs with the real scheduler.
const ordinary = 3

// randomDeep is how many random executions of a scene a deep search makes.
const randomDeep = 20_000

// Test explores each of the scenes in a subtest. In a package that was not rewritten, it runs each scene a
// few times with the real scheduler, in a bubble.
func Test(t *testing.T, scenes ...Scene) {
	if !Controlled {
		for _, s := range scenes {
			t.Run(s.Name, s.ordinary)
		}
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a switch is quicker when no other thread looks for work
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	explored := 0
	for i, s := range scenes {
		if flags.wants(i, s.Name) {
			explored++
			t.Run(s.Name, func(t *testing.T) { s.controlled(t, flags) })
		}
	}
	if explored == 0 {
		t.Errorf("there is no scene %q", flags.Scene)
	}
}

func (f *settings) wants(i int, name string) bool {
	if f.Scene != "" {
		return f.Scene == name
	}
	return i%f.Parts == f.Part
}

func (s *Scene) ordinary(t *testing.T) {
	for range ordinary {
		synctest.Test(t, func(t *testing.T) {
			r := &Run{fail: func(message string) { t.Error(message) }}
			s.Body(r)
			r.started.Wait()
			synctest.Wait()
			for _, check := range r.atEnd {
				check()
			}
		})
	}
}

func (s *Scene) controlled(t *testing.T, f *settings) {
	if f.Schedule != "" {
		steps, failure, err := s.Replay(f.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + strings.Join(steps, "\n"))
		if failure != nil {
			t.Fatalf("%s\n%s", failure.Message, failure.Stack)
		}
		return
	}
	how := Search{Bound: s.Quick, Most: f.Most, Seed: f.Seed, Depth: 3}
	if f.Deep {
		how.Bound, how.Random = s.Deep, randomDeep
	}
	if f.Bound >= 0 {
		how.Bound = min(how.Bound, f.Bound)
	}
	if f.Random >= 0 {
		how.Random = f.Random
	}
	begin := time.Now()
	r := report{Scene: s.Name, Result: s.Explore(how)}
	r.Took = time.Since(begin)
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", mark, line)
	if failure := r.Failure; failure != nil {
		how := fmt.Sprintf("with %d preemptions", failure.Preemptions)
		if failure.Seed != 0 {
			how = fmt.Sprintf("at random, seed %d", failure.Seed)
		}
		t.Fatalf("execution %d, %s. In verify: go test ./explore -v -explore.scene='%s' -explore.schedule=%s\n%s\n%s\n%s",
			failure.Executions, how, s.Name, failure.Schedule, strings.Join(failure.Trace, "\n"), failure.Message, failure.Stack)
	}
}
