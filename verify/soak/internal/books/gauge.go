package books

import (
	"sync"
	"sync/atomic"
	"time"
)

// Gauge counts how many tasks run at once, and compares that with the limit at every start.
// What it counts is never more than what runs: a task enters after it has started, and leaves
// before it ends. A nil Gauge counts nothing.
type Gauge struct {
	book    *Book
	running atomic.Int64
	limit   atomic.Int64
	starts  atomic.Int64
	places  func() (n int, now any)

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

// Ask allows more tasks to run than the limit while the pool has more places. places returns how many it has, and
// something that is another value whenever that may have changed.
func (g *Gauge) Ask(places func() (n int, now any)) { g.places = places }

// excused reports whether the pool has as many places as tasks run. It does if it never stands still
// for long enough to be asked.
func (g *Gauge) excused() bool {
	if g.places == nil {
		return false
	}
	for range 10 {
		_, before := g.places()
		running := g.running.Load()
		if n, now := g.places(); now == before {
			return running <= int64(n)
		}
	}
	return true
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

// LowerStill is Lower when every task that was taken has entered: no start may see more running
// than the limit.
func (g *Gauge) LowerStill(limit int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grace = 0
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
		g.book.sawPeak(n, limit)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	limit = g.limit.Load()
	if n <= limit {
		return
	}
	if g.grace > 0 {
		g.grace--
		return
	}
	if g.excused() {
		return
	}
	g.book.sawPeak(n, limit)
	g.book.Breach("a task has started while %d ran: the limit is %d", n-1, limit)
}

// Back counts a task that goes on: after it has waited for subtasks, or with another item of
// its loop. That is no start, and a lower limit leaves it alone.
func (g *Gauge) Back() {
	if g == nil {
		return
	}
	n := g.running.Add(1)
	if n <= g.limit.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > g.highest && !g.excused() {
		g.book.Breach("a task goes on while %d others run: the limit was never above %d", n-1, g.highest)
	}
}

// Leave counts a task that is about to end, or to wait for subtasks.
func (g *Gauge) Leave() {
	if g != nil {
		g.running.Add(-1)
	}
}

// Running returns how many run now.
func (g *Gauge) Running() int { return int(g.running.Load()) }

// Starts returns how many have started.
func (g *Gauge) Starts() int { return int(g.starts.Load()) }

// glance is how often Stalls looks.
const glance = time.Millisecond

// Stalls looks, until stop is called, for how long a task of the ledger is queued and a worker free
// and yet nothing starts. It is for the table alone: how long is too long depends on the machine.
func (g *Gauge) Stalls(l *Ledger) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(glance)
		defer tick.Stop()
		var since time.Time
		var starts int64
		for {
			now := time.Now()
			n := g.starts.Load()
			waits := l.queued() > 0 && g.running.Load() < g.limit.Load()
			if !waits || n != starts || since.IsZero() {
				since, starts = now, n
			}
			if waits {
				g.book.sawStall(now.Sub(since))
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
