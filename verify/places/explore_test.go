package places_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/places"
)

// The mistakes are in the rule, where these tests look for them.
func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./places",
		Bugs:   plant.Read("rule"),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.short", "-test.run=^TestTinyPrograms|^TestProgramsMadeByHand"},
	}.Run(t)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var deep = flag.Bool("places.deep", false, "explore more tiny programs, for a minute or two")

// explore calls run with all choices that it may ask for, or with the first most of them, until it returns false.
func explore(most int, run func(choose func(n int) int) bool) (runs int, complete bool) {
	var path, width []int
	for runs = 1; runs <= most; runs++ {
		at := 0
		more := run(func(n int) int {
			if at == len(path) {
				path, width = append(path, 0), append(width, n)
			}
			at++
			return path[at-1]
		})
		for at > 0 && path[at-1] == width[at-1]-1 {
			at--
		}
		if !more || at == 0 {
			return runs, at == 0
		}
		path, width = path[:at], width[:at]
		path[at-1]++
	}
	return most, false
}

// schedules runs a program under all schedules, or under the first most of them. In none may anything go wrong.
func schedules(t *testing.T, p *places.Program, most int) (n int, all bool) {
	return explore(most, func(choose func(n int) int) bool {
		var choices []int
		seen := places.Run(p, places.Options{Cancels: 1}, func(n int) int {
			choices = append(choices, choose(n))
			return choices[len(choices)-1]
		})
		if seen.Problem == "" {
			return true
		}
		again := places.Run(p, places.Options{Cancels: 1, Trace: true}, func(int) int {
			next := choices[0]
			choices = choices[1:]
			return next
		})
		t.Errorf("%s: %v\n%s", seen.Problem, p, strings.Join(again.Trace, "\n"))
		return false
	})
}

// tiny is a grammar of programs on pools of limit 1.
type tiny struct {
	pools int
	roots []int // how deep the waits of each are nested
	kinds int   // of tasks: nothing, lock, wait, wait under a lock, wait that may be cancelled, stream, future
}

func (g tiny) program(choose func(n int) int) *places.Program {
	p := &places.Program{}
	for range g.pools {
		p.Limits = append(p.Limits, 1)
	}
	for i, depth := range g.roots {
		pool := 0 // of the first root: the pools are alike
		if i > 0 {
			pool = choose(g.pools)
		}
		p.Roots = append(p.Roots, g.task(choose, pool, depth))
	}
	return p
}

// each calls f with each program whose locks do not conflict, until it returns false.
func (g tiny) each(f func(p *places.Program) bool) {
	explore(1e9, func(choose func(n int) int) bool {
		p := g.program(choose)
		held, _ := p.Conflict()
		return held != nil || f(p)
	})
}

func (g tiny) task(choose func(n int) int, pool, depth int) *places.Task {
	kinds := g.kinds
	if depth == 0 {
		kinds = 2
	}
	kind := choose(kinds)
	if kind < 2 {
		return task(pool, []*places.Action{lock(1)}[:kind]...)
	}
	under := g.task(choose, choose(g.pools), depth-1)
	wait := group(under)
	switch kind {
	case 3:
		wait = lock(1, wait)
	case 4:
		wait.Cancel = true
	case 5:
		wait, under.Items = stream(under), 1
	case 6:
		under.Future = depth
		get := do(places.Get, depth)
		get.Cancel = true
		return task(pool, async(under), get)
	}
	return task(pool, wait)
}

func TestTinyProgramsEndUnderEverySchedule(t *testing.T) {
	all := []tiny{{2, []int{1, 1}, 6}, {2, []int{2, 1}, 4}}
	more := []tiny{{2, []int{2, 2}, 4}, {2, []int{1, 1, 1}, 3}, {3, []int{2, 1}, 4}, {1, []int{2, 2}, 7}}
	all = append(all, more[:check.Size(0, 1, len(more))]...)
	if *deep {
		all = []tiny{{1, []int{3, 1}, 7}, {2, []int{1, 1}, 7}, {2, []int{2, 1}, 5}, {2, []int{1, 1, 1}, 4}, {3, []int{1, 1, 1}, 3}, {2, []int{2, 1}, 6}, {3, []int{2, 2}, 4}}
	}
	for _, g := range all {
		programs, runs := 0, 0
		g.each(func(p *places.Program) bool {
			n, _ := schedules(t, p, 1e9)
			programs, runs = programs+1, runs+n
			return !t.Failed()
		})
		t.Logf("%+v: %d programs, %d schedules", g, programs, runs)
	}
}
