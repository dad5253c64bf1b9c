package weirdebug

import (
	"sync"
	"time"

	"github.com/64ed045f/weir"
)

const (
	ratePause = 2 * time.Second
	rateParts = 30          // of the last minute
	rateStays = time.Minute // for which counting goes on after a request
	ratePools = 10_000      // that are counted at most, and as many of others that are shown
)

// rates counts what each pool finishes, every ratePause, from a request on and as long as requests come. Between requests a timer
// does it, and no goroutine.
type rates struct {
	mu      sync.Mutex
	pools   map[uint64]*rate
	shown   map[uint64]bool // pools that are not counted, and were shown since the last count
	counted time.Time       // when that was last
	until   time.Time
	running bool   // the timer
	round   uint64 // of the timer: those of earlier ones do nothing
}

// rate is what a pool has finished.
type rate struct {
	finished uint64    // when that was counted last
	perSec   []float64 // the latest last
	seen     bool
}

// ask lets it count from now on, for a while.
func (r *rates) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(rateStays)
	since := time.Since(r.counted)
	if r.running && since >= 0 && since <= rateStays {
		r.start(ratePause - since) // anew: the last one may belong to a test bubble that has ended
	} else {
		r.running = true
		r.pools, r.shown = make(map[uint64]*rate), make(map[uint64]bool) // what was counted before is no part of the last minute
		r.count()
	}
}

// tick is what the timer calls.
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

// start starts the timer, in place of the one that was started before. The caller holds mu.
func (r *rates) start(d time.Duration) {
	r.round++
	round := r.round
	time.AfterFunc(d, func() { r.tick(round) })
}

// of returns what the pool has finished per second, in parts of the last minute.
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
