package weirdebug

import (
	"sync"
	"time"

	"github.com/64ed045f/weir"
)

const (
	ratePause = 2 * time.Second
	rateParts = 30          // parts of the last minute
	rateStays = time.Minute // how long counting goes on after a request
	ratePools = 10_000      // the most pools that are counted; also the most pools remembered in shown
)

// rates counts how many tasks each pool finishes, every ratePause, while requests come and for rateStays
// after the last one. Between requests a timer counts, so that no goroutine is needed.
type rates struct {
	mu      sync.Mutex
	pools   map[uint64]*rate
	shown   map[uint64]bool // pools that were shown since the last count, and are not counted yet
	counted time.Time       // time of the last count
	until   time.Time
	running bool   // whether the timer runs
	round   uint64 // of the current timer: earlier timers do nothing
}

// rate is how many tasks a pool has finished.
type rate struct {
	finished uint64    // at the last count
	perSec   []float64 // the latest last
	seen     bool
}

// ask starts counting, or lets it go on, for rateStays.
func (r *rates) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(rateStays)
	since := time.Since(r.counted)
	if r.running && since >= 0 && since <= rateStays {
		r.start(ratePause - since) // again, as the last timer may belong to a test bubble that has ended
	} else {
		r.running = true
		r.pools, r.shown = make(map[uint64]*rate), make(map[uint64]bool) // earlier counts do not belong to the last minute
		r.count()
	}
}

// tick is called by the timer of that round.
func (r *rates) tick(round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round {
		return
	}
	if time.Now().After(r.until) {
		r.running, r.pools, r.shown = false, nil, nil
		return
	}
	r.count()
}

// count counts, and starts the timer. The caller holds mu.
func (r *rates) count() {
	now := time.Now()
	passed := now.Sub(r.counted).Seconds()
	r.counted = now
	for pool := range weir.Pools() {
		c := r.pools[pool.ID]
		finished := pool.Stats().Finished
		switch {
		case c != nil && passed > 0:
			c.perSec = append(c.perSec, float64(finished-min(finished, c.finished))/passed)
			if len(c.perSec) > rateParts {
				c.perSec = c.perSec[len(c.perSec)-rateParts:]
			}
		case c == nil && len(r.pools) >= ratePools && !r.shown[pool.ID]:
			continue
		case c == nil:
			c = new(rate)
			r.pools[pool.ID] = c
		}
		c.finished, c.seen = finished, true
	}
	for id, c := range r.pools {
		if !c.seen {
			delete(r.pools, id)
		}
		c.seen = false
	}
	clear(r.shown)
	r.start(ratePause)
}

// start starts a timer instead of the one that was started before. The caller holds mu.
func (r *rates) start(d time.Duration) {
	r.round++
	round := r.round
	time.AfterFunc(d, func() { r.tick(round) })
}

// of returns how many tasks the pool has finished per second, in parts of the last minute.
func (r *rates) of(pool uint64) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.pools[pool]; c != nil {
		return append([]float64(nil), c.perSec...)
	}
	if r.running && len(r.pools)+len(r.shown) < 2*ratePools {
		r.shown[pool] = true
	}
	return nil
}
