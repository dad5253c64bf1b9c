package check

import "sync/atomic"

// Gauge counts how many goroutines are inside something (Now), how many were at most (Peak), and how many
// have come (Entered).
type Gauge struct{ Now, Peak, Entered atomic.Int64 }

// Enter counts one more goroutine inside.
func (g *Gauge) Enter() {
	g.Entered.Add(1)
	n := g.Now.Add(1)
	for {
		peak := g.Peak.Load()
		if n <= peak || g.Peak.CompareAndSwap(peak, n) {
			return
		}
	}
}

// Leave counts one goroutine less inside.
func (g *Gauge) Leave() { g.Now.Add(-1) }
