// Package run runs loads in this process, in rounds, and checks what they leave behind.
package run

import (
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
)

// Runner runs loads. Except for Now, its methods are for one goroutine.
type Runner struct {
	Seed     uint64
	Patience time.Duration // without any progress of a load, after which it hangs
	Journal  *books.Journal

	books map[string]*books.Book
	whole *books.Book // of the process
	now   atomic.Pointer[string]
}

// New returns a runner of loads.
func New(seed uint64, patience time.Duration, loads []load.Load) *Runner {
	r := &Runner{Seed: seed, Patience: patience, Journal: books.NewJournal(), books: map[string]*books.Book{}}
	for _, l := range loads {
		r.books[l.Name] = books.New(l.Name, r.Journal)
	}
	r.whole = books.New("the process", r.Journal)
	r.now.Store(new(string))
	return r
}

// Now returns which load runs, and how many tasks have been finished in all.
func (r *Runner) Now() (load string, finished uint64) {
	for _, b := range r.books {
		finished += b.Tally().Finished
	}
	return *r.now.Load(), finished
}

// Tallies returns what the loads have counted.
func (r *Runner) Tallies() map[string]books.Tally {
	tallies := map[string]books.Tally{}
	for name, b := range r.books {
		tallies[name] = b.Tally()
	}
	return tallies
}

// Failed reports whether there was a breach.
func (r *Runner) Failed() bool { return len(r.Journal.Breaches()) > 0 }

// The length of the part of the time that belongs to one load, before it is the next one's turn.
const (
	shortest = 50 * time.Millisecond
	longest  = 3 * time.Second
)

// Soak runs all loads for a time, in turn and together, in an order of the seed, and returns the
// vitals after each turn. It ends early with a breach.
func (r *Runner) Soak(loads []load.Load, length time.Duration) []books.Vitals {
	end := time.Now().Add(length)
	// Turns in a lap: all together have one as long as half of the others.
	turns := len(loads) + 1 + len(loads)/2
	turn := min(max(length/time.Duration(4*turns), shortest), longest)
	return r.Laps(loads, turn, func() bool { return time.Now().Before(end) })
}

// Laps is Soak with turns of a given length, at least one, as long as more, which any goroutine
// may call, reports true.
func (r *Runner) Laps(loads []load.Load, turn time.Duration, more func() bool) (series []books.Vitals) {
	rnd := rand.New(rand.NewPCG(r.Seed, 0))
	// What the first use makes once is no growth.
	for _, l := range loads {
		r.Turn([]load.Load{l}, func() bool { return false })
	}
	for series = append(series, books.Measure()); ; {
		for _, i := range rnd.Perm(len(loads) + 1) {
			these, length := loads, turn*time.Duration(max(1, len(loads)/2))
			if i < len(loads) {
				these, length = loads[i:i+1], turn
			}
			stop := time.Now().Add(length)
			r.Turn(these, func() bool { return time.Now().Before(stop) && more() })
			if r.Failed() {
				return series
			}
			series = append(series, books.Measure())
			r.whole.Flat(series)
			if r.Failed() || !more() {
				return series
			}
		}
	}
}

// Turn runs rounds of loads, at once, while more, which any goroutine may call, reports true, and at least one of
// each. After that the number of goroutines must be back at what it was. With a breach Turn may leave
// a load that hangs behind, and after one it does nothing.
func (r *Runner) Turn(loads []load.Load, more func() bool) {
	if r.Failed() {
		return
	}
	name := loads[0].Name
	if len(loads) > 1 {
		name = "together"
	}
	r.now.Store(&name)
	before := runtime.NumGoroutine()
	running := make([]atomic.Bool, len(loads))
	over := make(chan struct{})
	go func() {
		defer close(over)
		var all sync.WaitGroup
		for i, l := range loads {
			running[i].Store(true)
			all.Go(func() {
				for ok := true; ok && !r.Failed(); ok = more() {
					r.round(l)
				}
				running[i].Store(false)
			})
		}
		all.Wait()
	}()
	if r.watch(loads, running, over) && !r.Failed() {
		r.back(loads[0], before)
	}
}

func (r *Runner) round(l load.Load) {
	b := r.books[l.Name]
	name := fnv.New64a()
	_, _ = name.Write([]byte(l.Name)) // a hash never fails
	l.Round(&load.Round{Book: b, Rand: rand.New(rand.NewPCG(r.Seed^name.Sum64(), b.Tally().Rounds))})
	b.Round()
}

// ticks is how many the patience is divided into. They are counted, rather than the time: while the whole
// process or machine stands still there are none.
const ticks = 60

// watch waits until all is over. It returns false, with a breach, when a load that still runs completes nothing any more.
func (r *Runner) watch(loads []load.Load, running []atomic.Bool, over <-chan struct{}) bool {
	ticker := time.NewTicker(r.Patience / ticks)
	defer ticker.Stop()
	ops, silent := make([]uint64, len(loads)), make([]int, len(loads))
	for hangs := false; !hangs; {
		select {
		case <-over:
			return true
		case <-ticker.C:
		}
		for i, l := range loads {
			b := r.books[l.Name]
			if n := b.Ops(); n != ops[i] || !running[i].Load() {
				ops[i], silent[i] = n, 0
			} else if silent[i]++; silent[i] == ticks {
				b.Breach("it hangs: nothing was completed for %v", r.Patience)
				hangs = true
			}
		}
	}
	return false
}

// back waits until there are no more goroutines than before.
func (r *Runner) back(l load.Load, before int) {
	for deadline := time.Now().Add(r.Patience / 2); runtime.NumGoroutine() > before; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			r.books[l.Name].Breach("goroutines are left behind: there were %d before, and are %d", before, runtime.NumGoroutine())
			return
		}
	}
}
