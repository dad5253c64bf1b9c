package run_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/load"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

func TestALoadThatHangsIsFoundWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		l := load.Load{Name: "stuck", Round: func(*load.Round) { <-stuck }}
		r := run.New(1, patience, []load.Load{l})
		begin := time.Now()
		r.Alone(l, func() bool { return false })
		wantBreach(t, r, "stuck", "it hangs")
		if !strings.Contains(r.Journal.Breaches()[0].Stacks, "TestALoadThatHangs") {
			t.Error("the stack of the load is not among the stacks")
		}
		if took := time.Since(begin); took != patience {
			t.Errorf("it was found after %v, want %v", took, patience)
		}
	})
}

func TestALoadThatHangsBesideOthersIsFound(t *testing.T) {
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
		r = run.New(1, patience, loads)
		r.Together(loads, func() bool { return false })
		wantBreach(t, r, "stuck", "it hangs")
		if n := len(r.Journal.Breaches()); n != 1 {
			t.Errorf("%d loads are said to hang: %v", n, r.Journal.Breaches())
		}
		time.Sleep(patience) // until the busy one has seen it
	})
}

func TestALoadThatGoesOnNeverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load.Load{Name: "slow", Round: func(r *load.Round) {
			for range 200 {
				time.Sleep(patience * 9 / 10)
				r.Op()
			}
		}}
		r := run.New(1, patience, []load.Load{l})
		r.Alone(l, func() bool { return false })
		fine(t, r)
	})
}

func TestAGoroutineLeftBehindIsABreach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		l := load.Load{Name: "litter", Round: func(*load.Round) { go func() { <-stop }() }}
		r := run.New(1, patience, []load.Load{l})
		r.Alone(l, func() bool { return true })
		wantBreach(t, r, "litter", "goroutines are left behind")
	})
}

func TestAGoroutineThatEndsALittleLaterIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load.Load{Name: "late", Round: func(*load.Round) { go time.Sleep(time.Second) }}
		r := run.New(1, patience, []load.Load{l})
		r.Alone(l, func() bool { return false })
		fine(t, r)
	})
}

// laps returns a condition that holds n times.
func laps(n int64) func() bool {
	var count atomic.Int64
	return func() bool { return count.Add(1) <= n }
}

func TestALoadThatKeepsMemoryIsFound(t *testing.T) {
	var kept [][]byte
	l := load.Load{Name: "hoard", Round: func(*load.Round) { kept = append(kept, make([]byte, 1<<20)) }}
	r := run.New(1, patience, []load.Load{l})
	r.Laps([]load.Load{l}, 0, laps(50))
	wantBreach(t, r, "the process", "bytes on the heap grow")
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}

func TestALoadThatKeepsTimersIsFound(t *testing.T) {
	var kept []*time.Timer
	l := load.Load{Name: "clockmaker", Round: func(*load.Round) {
		for range 2000 {
			kept = append(kept, time.AfterFunc(time.Hour, func() {}))
		}
	}}
	r := run.New(1, patience, []load.Load{l})
	r.Laps([]load.Load{l}, 0, laps(50))
	for _, timer := range kept {
		timer.Stop()
	}
	wantBreach(t, r, "the process", "timers grow")
}

func TestALoadThatKeepsNothingIsFlat(t *testing.T) {
	l := load.Load{Name: "tidy", Round: func(*load.Round) {
		for range 2000 {
			time.AfterFunc(time.Hour, func() {}).Stop()
		}
		_ = make([]byte, 1<<20)
	}}
	r := run.New(1, patience, []load.Load{l})
	r.Laps([]load.Load{l}, 0, laps(50))
	fine(t, r)
}
