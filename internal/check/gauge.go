package check

import "sync/atomic"

// Gauge counts how many goroutines run at once, and how many did at most.
type Gauge struct{ Now, Peak atomic.Int64 }

// Enter counts one more.
func (g *Gauge) Enter() {
	n := g.Now.Add(1)
	for {
		peak := g.Peak.Load()
		if n <= peak || g.Peak.CompareAndSwap(peak, n) {
			return
		}
	}
}

// Leave counts one less.
func (g *Gauge) Leave() { g.Now.Add(-1) }
