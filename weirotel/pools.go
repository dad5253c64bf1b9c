package weirotel

import (
	"strings"
	"time"

	"github.com/64ed045f/weir"
)

// Values of the attribute weir.pool.name that are no names.
const (
	unnamed = "unnamed" // of pools without a name
	other   = "other"   // of those for whose names there is no room
)

// longestName is in bytes.
const longestName = 128

// pools are those of weir.Pools, added up by name.
type pools struct {
	maxNames int
	only     func(weir.PoolInfo) bool // nil for all

	list   []source[poolTotals] // of names, in the order in which they were found
	names  map[string]*poolTotals
	known  map[uint64]*knownPool // by ID
	newest uint64                // the highest ID ever seen
	last   time.Time             // of the last look; at first of the making
}

// poolTotals are what the pools of a name add up to. Its counters only grow; the rest is that of the last look.
type poolTotals struct {
	weir.Stats
	searching              int // workers without a task that are not parked
	pools, paused, closing int
	times
}

// knownPool is a pool that was there at the last look.
type knownPool struct {
	totals *poolTotals
	seen   bool          // in the look that is under way
	busy   bool          // the pool has workers, so that it is no garbage yet: info is set
	info   weir.PoolInfo // of one that is not busy it would keep the pool from becoming garbage

	highest   weir.Stats // counters that are in totals
	wait, run durations  // that are in totals
}

// look brings the totals up to date, and returns them.
func (p *pools) look(now time.Time) []source[poolTotals] {
	for _, t := range p.names {
		t.clearGauges()
	}
	before := p.newest
	for info := range weir.Pools() {
		if p.only != nil && !p.only(info) {
			continue
		}
		k := p.known[info.ID]
		if k == nil {
			k = &knownPool{totals: p.totalsOf(info.Name)}
			p.known[info.ID] = k
			if info.ID <= before {
				k.count(new(poolTotals), info) // it was counted before, and had no worker for a moment while it closed
			}
		}
		k.seen = true
		k.totals.gauge(k.count(k.totals, info))
		p.newest = max(p.newest, info.ID)
	}
	for id, k := range p.known {
		if !k.seen {
			if k.busy {
				k.count(k.totals, k.info) // it has closed since
			}
			delete(p.known, id)
		}
		k.seen = false
	}
	p.last = now
	return p.list
}

// totalsOf returns the totals of pools with that name.
func (p *pools) totalsOf(name string) *poolTotals {
	if name == "" {
		name = unnamed
	}
	name = strings.ToValidUTF8(name[:min(len(name), longestName)], "\uFFFD")
	if p.names[name] == nil && len(p.names) >= p.maxNames {
		name = other
	}
	t := p.names[name]
	if t == nil {
		t = new(poolTotals)
		p.names[name] = t
		p.list = append(p.list, newSource(ofPools, name, p.last, t))
	}
	return t
}

// clearGauges keeps the counters alone.
func (t *poolTotals) clearGauges() {
	*t = poolTotals{
		Stats: weir.Stats{Accepted: t.Accepted, Finished: t.Finished, HandedBack: t.HandedBack, Rejected: t.Rejected, Panicked: t.Panicked},
		times: times{wait: t.wait, run: t.run},
	}
}

// count adds what the counters and histograms of the pool have gained, and returns all of them.
func (k *knownPool) count(to *poolTotals, info weir.PoolInfo) (weir.Stats, weir.Times) {
	s, t := info.Stats(), info.Times()
	grow(&to.Accepted, &k.highest.Accepted, s.Accepted)
	grow(&to.Finished, &k.highest.Finished, s.Finished)
	grow(&to.HandedBack, &k.highest.HandedBack, s.HandedBack)
	grow(&to.Rejected, &k.highest.Rejected, s.Rejected)
	grow(&to.Panicked, &k.highest.Panicked, s.Panicked)
	to.wait.grow(&k.wait, t.Wait)
	to.run.grow(&k.run, t.Run)
	k.busy, k.info = s.Workers > 0, weir.PoolInfo{}
	if k.busy {
		k.info = info
	}
	return s, t
}

// gauge adds what a pool is doing.
func (t *poolTotals) gauge(s weir.Stats, of weir.Times) {
	t.pools++
	t.Limit += s.Limit
	t.Extra += s.Extra
	t.Running += s.Running
	t.Suspended += s.Suspended
	t.Returning += min(s.Returning, s.Suspended)
	t.Idle += s.Idle
	t.searching += max(0, s.Workers-s.Running-s.Suspended-s.Idle)
	t.Queued += s.Queued
	t.Waiting += s.Waiting
	if s.Paused {
		t.paused++
	}
	if s.Closed {
		t.closing++
	}
	t.oldest = max(t.oldest, of.Oldest)
}
