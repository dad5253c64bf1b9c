package run_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/soak/internal/load"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

// patience is generous where nothing hangs: it decides nothing else.
const patience = 4 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newRunner returns a runner whose seed differs from run to run. A test that fails prints it.
func newRunner(loads ...load.Load) *run.Runner {
	return run.New(uint64(time.Now().UnixNano()), patience, loads)
}

// laps returns a condition that holds n times.
func laps(n int64) func() bool {
	var count atomic.Int64
	return func() bool { return count.Add(1) <= n }
}

func TestEachLoadKeepsItsBooks(t *testing.T) {
	rounds := check.Size(2, 3, 10)
	for _, l := range load.All() {
		t.Run(l.Name, func(t *testing.T) {
			r := newRunner(l)
			r.Turn([]load.Load{l}, laps(int64(rounds-1)))
			fine(t, r)
			if tally := r.Tallies()[l.Name]; tally.Rounds != uint64(rounds) {
				t.Errorf("%d rounds, want %d", tally.Rounds, rounds)
			}
		})
	}
}

func TestASoakOfAllLoadsLeavesNothingBehind(t *testing.T) {
	length := check.Size(100*time.Millisecond, 500*time.Millisecond, 2*time.Second)
	r := newRunner(load.All()...)
	series := r.Soak(load.All(), length)
	r.Turn(load.All(), laps(0))
	fine(t, r)
	if len(series) < 2 {
		t.Errorf("%d measurements", len(series))
	}
}

func TestTheSameSeedMakesTheSameChoices(t *testing.T) {
	var seen [2][]uint64
	for i := range seen {
		l := load.Load{Name: "dice", Round: func(r *load.Round) { seen[i] = append(seen[i], r.Rand.Uint64()) }}
		run.New(7, patience, []load.Load{l}).Turn([]load.Load{l}, laps(4))
	}
	if !slices.Equal(seen[0], seen[1]) || len(slices.Compact(seen[0])) != 5 {
		t.Errorf("the rounds have drawn %v", seen)
	}
}

func TestOfSeveralLoadsTheOneThatHangsIsFoundWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		var r *run.Runner
		loads := []load.Load{
			{Name: "stuck", Round: func(*load.Round) { <-stuck }},
			{Name: "over", Round: func(*load.Round) {}}, // ends at once, and does not hang
			{Name: "busy", Round: func(round *load.Round) {
				for !r.Failed() {
					time.Sleep(patience / 2)
					round.Op()
				}
			}},
		}
		r = newRunner(loads...)
		begin := time.Now()
		r.Turn(loads, laps(0))
		wantBreach(t, r, "stuck", "it hangs")
		if !strings.Contains(r.Journal.Breaches()[0].Stacks, "TestOfSeveralLoads") {
			t.Error("the stack of the load is not among the stacks")
		}
		if took := time.Since(begin); took != patience {
			t.Errorf("it was found after %v, want %v", took, patience)
		}
		time.Sleep(patience) // until the busy one has seen it
	})
}

func TestAloneALoadThatGoesOnDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load.Load{Name: "slow", Round: func(r *load.Round) {
			for range 200 {
				time.Sleep(patience * 9 / 10)
				r.Op()
			}
			go time.Sleep(time.Second) // and what ends a little later is not left behind
		}}
		r := newRunner(l)
		r.Turn([]load.Load{l}, laps(0))
		fine(t, r)
		time.Sleep(time.Second) // the runner counts goroutines: if one of an earlier test has ended meanwhile, it has not waited for this load's
	})
}

func TestAGoroutineLeftBehindIsABreach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		l := load.Load{Name: "litter", Round: func(*load.Round) {
			for range 50 { // as some of earlier tests may end meanwhile, which count as well
				go func() { <-stop }()
			}
		}}
		r := newRunner(l)
		r.Turn([]load.Load{l}, laps(0))
		wantBreach(t, r, "litter", "goroutines are left behind")
	})
}

func TestALoadThatKeepsMemoryOrTimersIsFound(t *testing.T) {
	var memory [][]byte
	var timers []*time.Timer
	start := func() { timers = append(timers, time.AfterFunc(time.Hour, func() {})) }
	for _, c := range []struct {
		name, want string
		round      func()
	}{
		{"hoard", "bytes on the heap grow", func() { memory = append(memory, make([]byte, 1<<20)) }},
		{"clockmaker", "objects grow", func() {
			for range 2000 {
				start()
			}
		}},
		{"tidy", "", func() {
			_ = make([]byte, 1<<20)
			for range 2000 {
				time.AfterFunc(time.Hour, func() {}).Stop()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := load.Load{Name: c.name, Round: func(*load.Round) { c.round() }}
			r := newRunner(l)
			r.Laps([]load.Load{l}, 0, laps(50))
			if c.want == "" {
				fine(t, r)
			} else {
				wantBreach(t, r, "the process", c.want)
			}
		})
	}
	for _, timer := range timers {
		timer.Stop()
	}
	if len(memory) == 0 {
		t.Error("nothing was kept")
	}
}

// fine fails the test for each breach.
func fine(t *testing.T, r *run.Runner) {
	t.Helper()
	for _, b := range r.Journal.Breaches() {
		t.Errorf("seed %d, load %s: %s\n%s", r.Seed, b.Load, b.What, b.Stacks)
	}
}

// wantBreach fails the test unless there is one breach, with a text.
func wantBreach(t *testing.T, r *run.Runner, load, text string) {
	t.Helper()
	found := r.Journal.Breaches()
	if len(found) != 1 || found[0].Load != load || !strings.Contains(found[0].What, text) {
		t.Errorf("load %s is not the only one with a breach that says %q: %v", load, text, found)
	}
}
