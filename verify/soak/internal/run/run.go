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
func (r *Runner) Failed() bool {
	select {
	case <-r.Journal.Failed():
		return true
	default:
		return false
	}
}

// Alone runs rounds of one load while more reports true, and at least one. After each
// round the number of goroutines must be back at what it was.
func (r *Runner) Alone(l load.Load, more func() bool) {
	r.now.Store(&l.Name)
	r.guarded([]load.Load{l}, func(*watchdog) {
		before := runtime.NumGoroutine()
		for ok := true; ok && !r.Failed(); ok = more() {
			r.round(l)
			if !r.back(l, before) {
				return
			}
		}
	})
}

// Together runs rounds of several loads at once while more, which any goroutine may call,
// reports true.
func (r *Runner) Together(loads []load.Load, more func() bool) {
	name := "together"
	r.now.Store(&name)
	r.guarded(loads, func(dog *watchdog) {
		before := runtime.NumGoroutine()
		var all sync.WaitGroup
		for _, l := range loads {
			all.Go(func() {
				for ok := true; ok && !r.Failed(); ok = more() {
					r.round(l)
				}
				dog.leave(l)
			})
		}
		all.Wait()
		if !r.Failed() {
			r.back(load.Load{Name: loads[0].Name}, before)
		}
	})
}

func (r *Runner) round(l load.Load) {
	b := r.books[l.Name]
	name := fnv.New64a()
	_, _ = name.Write([]byte(l.Name)) // a hash never fails
	rnd := rand.New(rand.NewPCG(r.Seed^name.Sum64(), b.Tally().Rounds))
	l.Round(&load.Round{Book: b, Rand: rnd})
	b.Round()
}

// guarded calls f, and returns when it has, or with a breach when its loads hang; f then
// goes on forever.
func (r *Runner) guarded(loads []load.Load, f func(dog *watchdog)) {
	stop, over := make(chan struct{}), make(chan struct{})
	dog := newWatchdog(r, loads)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		dog.watch(stop)
	}()
	go func() {
		defer close(over)
		f(dog)
	}()
	select {
	case <-over:
		close(stop)
		<-ended
	case <-ended:
	}
}

// back waits until there are no more goroutines than before a round.
func (r *Runner) back(l load.Load, before int) bool {
	pause := time.Microsecond
	var waited time.Duration
	for runtime.NumGoroutine() > before {
		if waited > r.Patience/2 {
			r.books[l.Name].Breach("goroutines are left behind: there were %d before the round, and are %d", before, runtime.NumGoroutine())
			return false
		}
		time.Sleep(pause)
		waited += pause
		pause = min(2*pause, 10*time.Millisecond)
	}
	return true
}
