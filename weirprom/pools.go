package weirprom

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir"
)

// Values of the label "pool" that are no names.
const (
	unnamed = "unnamed" // of pools without a name
	other   = "other"   // of those for whose names there is no room
)

// longestName is in bytes.
const longestName = 128

// pools exports those of weir.Pools.
type pools struct {
	exporter[poolTotals]
	maxNames int
	only     func(weir.PoolInfo) bool // nil for all

	mu     sync.Mutex
	names  map[string]*poolTotals
	known  map[uint64]*knownPool // by ID
	newest uint64                // the highest ID ever seen
}

// poolTotals are what the pools of a name add up to. Its counters only grow; the others are those of the last look.
type poolTotals struct {
	weir.Stats
	searching              int // workers
	pools, paused, closing int
	times
}

// knownPool is a pool that was there at the last look.
type knownPool struct {
	weir.PoolInfo
	totals *poolTotals
	busy   bool // it has workers, and thus is no garbage: PoolInfo is set
	seen   bool // in the look that is under way

	counted   weir.Stats // the counters, as far as they are in totals
	wait, run durations
}

// Collect sends the metrics of all pools.
func (p *pools) Collect(to chan<- prometheus.Metric) {
	for _, m := range p.metrics() {
		to <- m // not under the lock: the receiver may be slow
	}
}

func (p *pools) metrics() (list []prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look()
	for name, totals := range p.names {
		list = p.append(list, totals, name)
	}
	return list
}

// look brings the totals up to date.
func (p *pools) look() {
	for _, t := range p.names {
		t.settle()
	}
	before := p.newest
	for info := range weir.Pools() {
		if p.only != nil && !p.only(info) {
			continue
		}
		k := p.known[info.ID]
		if k == nil {
			k = &knownPool{totals: p.totals(info.Name)}
			p.known[info.ID] = k
			if info.ID <= before { // it was there, and was not for a moment, as it closed: what it had done by then is counted
				k.count(new(poolTotals), info)
			}
		}
		k.gauge(k.count(k.totals, info))
		k.seen = true
		p.newest = max(p.newest, info.ID)
	}
	for id, k := range p.known {
		if !k.seen && k.busy {
			k.count(k.totals, k.PoolInfo)
		}
		if !k.seen {
			delete(p.known, id)
		}
		k.seen = false
	}
}

// totals returns those of pools with that name.
func (p *pools) totals(name string) *poolTotals {
	if name == "" {
		name = unnamed
	}
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError { // Prometheus refuses bytes that are not UTF-8, and expressions with U+FFFD
			return '_'
		}
		return r
	}, name[:min(len(name), longestName)])
	if p.names[name] == nil && len(p.names) >= p.maxNames {
		name = other
	}
	if p.names[name] == nil {
		p.names[name] = new(poolTotals)
	}
	return p.names[name]
}

// settle sets the gauges to 0.
func (t *poolTotals) settle() {
	t.Stats = weir.Stats{Accepted: t.Accepted, Finished: t.Finished, HandedBack: t.HandedBack, Rejected: t.Rejected, Panicked: t.Panicked}
	t.searching, t.pools, t.paused, t.closing, t.oldest = 0, 0, 0, 0, 0
}

// count adds what the counters and histograms of the pool have gained to the totals.
func (k *knownPool) count(to *poolTotals, info weir.PoolInfo) (weir.Stats, weir.Times) {
	s, t := info.Stats(), info.Times()
	grow(&to.Accepted, &k.counted.Accepted, s.Accepted)
	grow(&to.Finished, &k.counted.Finished, s.Finished)
	grow(&to.HandedBack, &k.counted.HandedBack, s.HandedBack)
	grow(&to.Rejected, &k.counted.Rejected, s.Rejected)
	grow(&to.Panicked, &k.counted.Panicked, s.Panicked)
	to.wait.grow(&k.wait, t.Wait)
	to.run.grow(&k.run, t.Run)
	if k.busy = s.Workers > 0; k.busy {
		k.PoolInfo = info
	} else {
		k.PoolInfo = weir.PoolInfo{}
	}
	return s, t
}

// gauge adds what the pool is doing to the totals.
func (k *knownPool) gauge(s weir.Stats, t weir.Times) {
	to := k.totals
	to.Limit += s.Limit
	to.Extra += s.Extra
	to.Running += s.Running
	to.Suspended += s.Suspended
	to.Returning += min(s.Returning, s.Suspended)
	to.Idle += s.Idle
	to.searching += max(0, s.Workers-s.Running-s.Suspended-s.Idle)
	to.Queued += s.Queued
	to.Waiting += s.Waiting
	to.pools++
	if s.Paused {
		to.paused++
	}
	if s.Closed {
		to.closing++
	}
	to.oldest = max(to.oldest, t.Oldest)
}
