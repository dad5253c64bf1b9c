package books

import (
	"sync"
	"sync/atomic"
)

// Gauge counts how many tasks run at once, and compares that with the limit at every start.
// What it counts is never more than what runs: a task enters after it has started, and leaves
// before it ends. A nil Gauge counts nothing.
type Gauge struct {
	book    *Book
	running atomic.Int64
	limit   atomic.Int64
	starts  atomic.Int64

	mu      sync.Mutex
	highest int64 // of all limits so far: no more can have been taken at any time
	grace   int64 // starts above the limit that are still no breach
}

// NewGauge returns one for tasks under a limit.
func NewGauge(b *Book, limit int) *Gauge {
	g := &Gauge{book: b, highest: int64(limit)}
	g.limit.Store(int64(limit))
	return g
}

// Raise sets a higher limit. The caller must call it before the library gets the limit.
func (g *Gauge) Raise(limit int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.highest = max(g.highest, int64(limit))
	g.limit.Store(int64(limit))
}

// Lower sets a lower limit. The caller must call it after the library has got the limit. Tasks that
// workers had taken by then may still start.
//
// So only as many starts can see more running than the limit as tasks can be taken at once:
// while more are taken than the limit no other task is, and as soon as there are not more,
// no start sees more.
func (g *Gauge) Lower(limit int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grace = g.highest
	g.limit.Store(int64(limit))
}

// Enter counts a task that has started.
func (g *Gauge) Enter() {
	if g == nil {
		return
	}
	n := g.running.Add(1)
	limit := g.limit.Load()
	g.starts.Add(1)
	if n <= limit {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	limit = g.limit.Load()
	switch {
	case n <= limit:
	case g.grace > 0:
		g.grace--
	default:
		g.book.Breach("a task has started while %d ran: the limit is %d", n-1, limit)
	}
}

// Leave counts a task that is about to end.
func (g *Gauge) Leave() {
	if g != nil {
		g.running.Add(-1)
	}
}

// Starts returns how many have started.
func (g *Gauge) Starts() int { return int(g.starts.Load()) }
