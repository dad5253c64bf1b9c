package run_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

// patience is generous where nothing hangs: it decides nothing else.
const patience = 4 * time.Minute

func TestMain(m *testing.M) {
	runtime.MemProfileRate = books.ProfileRate
	goleak.VerifyTestMain(m)
}

// seed differs from run to run, and a test that fails prints it.
func seed() uint64 { return uint64(time.Now().UnixNano()) }

func TestEachLoadKeepsItsBooks(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for _, l := range load.All() {
		t.Run(l.Name, func(t *testing.T) {
			r := run.New(seed(), patience, []load.Load{l})
			left := rounds
			r.Alone(l, func() bool { left--; return left > 0 })
			fine(t, r)
			if tally := r.Tallies()[l.Name]; tally.Rounds != uint64(rounds) {
				t.Errorf("%d rounds, want %d", tally.Rounds, rounds)
			}
		})
	}
}

func TestAllLoadsAtOnceKeepTheirBooks(t *testing.T) {
	loads := load.All()
	r := run.New(seed(), patience, loads)
	r.Together(loads, func() bool { return false })
	fine(t, r)
}

func TestASoakOfAllLoadsLeavesNothingBehind(t *testing.T) {
	length := 2 * time.Second
	if testing.Short() {
		length = 100 * time.Millisecond
	}
	loads := load.All()
	r := run.New(seed(), patience, loads)
	series := r.Soak(loads, length)
	fine(t, r)
	if len(series) < 2 {
		t.Errorf("%d measurements", len(series))
	}
}

func TestTheSameSeedMakesTheSameChoices(t *testing.T) {
	var seen [2][]uint64
	for i := range seen {
		l := load.Load{Name: "dice", Round: func(r *load.Round) { seen[i] = append(seen[i], r.Rand.Uint64()) }}
		r := run.New(7, patience, []load.Load{l})
		left := 5
		r.Alone(l, func() bool { left--; return left > 0 })
	}
	for i := range 5 {
		if seen[0][i] != seen[1][i] {
			t.Errorf("round %d has another number", i)
		}
		if i > 0 && seen[0][i] == seen[0][i-1] {
			t.Errorf("round %d has the number of the one before", i)
		}
	}
}

// fine fails the test for each breach.
func fine(t *testing.T, r *run.Runner) {
	t.Helper()
	for _, b := range r.Journal.Breaches() {
		t.Errorf("seed %d, load %s: %s\n%s", r.Seed, b.Load, b.What, b.Stacks)
	}
}

// wantBreach fails the test unless one of the breaches has a text.
func wantBreach(t *testing.T, r *run.Runner, load, text string) {
	t.Helper()
	for _, b := range r.Journal.Breaches() {
		if b.Load == load && strings.Contains(b.What, text) {
			return
		}
	}
	t.Errorf("no breach of load %s says %q: %v", load, text, r.Journal.Breaches())
}
