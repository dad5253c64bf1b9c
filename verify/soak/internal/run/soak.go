package run

import (
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
)

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
func (r *Runner) Laps(loads []load.Load, turn time.Duration, more func() bool) []books.Vitals {
	rnd := rand.New(rand.NewPCG(r.Seed, 0))
	// What the first use makes once is no growth.
	for _, l := range loads {
		r.Alone(l, func() bool { return false })
		if r.Failed() {
			return nil
		}
	}
	series := []books.Vitals{books.Measure()}
	for {
		for _, i := range rnd.Perm(len(loads) + 1) {
			length := turn
			if i == len(loads) {
				length *= time.Duration(max(1, len(loads)/2))
			}
			stop := time.Now().Add(length)
			now := func() bool { return time.Now().Before(stop) && more() }
			if i == len(loads) {
				r.Together(loads, now)
			} else {
				r.Alone(loads[i], now)
			}
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
