package exporter

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// Names shared by pools that have no name of their own here.
const (
	unnamed = "unnamed" // pools without a name
	other   = "other"   // pools for whose names there is no room
)

// longestName is the number of bytes of a name that count.
const longestName = 128

// maxGone is the least number of closed pools that Pools remembers.
const maxGone = 1000

// Pools adds up the pools of the program by name. [NewPools] makes a Pools. Any number of goroutines may use
// it at once.
type Pools struct {
	maxNames int
	keep     func(weir.PoolInfo) bool
	clean    func(name string) string

	mu         sync.Mutex
	list       []*Totals // in the order in which their names were found
	names      map[string]*Totals
	known      map[uint64]*knownPool // by ID
	gone, left map[uint64]bool       // the latest pools that were known and are not any more, and those before them
	last       time.Time             // time of the last look, or of NewPools before the first
}

// knownPool is a pool that existed at the last look.
type knownPool struct {
	totals  *Totals
	counted Totals        // what the pool's counters have added to totals
	seen    bool          // in the current look
	busy    bool          // the pool has workers, so it is not garbage: info is set
	info    weir.PoolInfo // zero unless busy, as the info would keep an unused pool from being garbage-collected
}

// NewPools returns a Pools that has found no pool yet.
func NewPools(opts ...Option) *Pools {
	p := &Pools{
		maxNames: 1000,
		keep:     func(weir.PoolInfo) bool { return true },
		clean:    func(name string) string { return name },
		names:    make(map[string]*Totals),
		known:    make(map[uint64]*knownPool),
		gone:     make(map[uint64]bool),
		last:     time.Now(),
	}
	for _, o := range opts {
		must(o != nil, "option must not be nil", "nil")
		o.apply(p)
	}
	return p
}

// Look returns the present totals of the pools of each name, in the order in which it found the names. Later
// looks return the same names in the same places, and new names after them.
//
// Look reads the state of each worker of the pools, and takes the lock of each pool for a short time.
// Concurrent calls run one after the other. The caller may keep and change the result.
func (p *Pools) Look() []Totals {
	must(p.names != nil, "Pools must be made by NewPools", "the zero value")
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.look()
	p.last = now
	list := make([]Totals, len(p.list))
	for i, t := range p.list {
		list[i] = t.clone()
	}
	return list
}

// look brings the totals up to date.
func (p *Pools) look() {
	for _, t := range p.list {
		t.clearGauges()
	}
	for info := range weir.Pools() {
		if !p.keep(info) {
			continue
		}
		k := p.known[info.ID]
		if k == nil {
			k = &knownPool{totals: p.totals(info.Name)}
			p.known[info.ID] = k
			if p.gone[info.ID] || p.left[info.ID] { // counted before, but missing in a look, as it had no worker while it closed
				k.count(new(Totals), info)
			}
		}
		k.seen = true
		stats, times := k.count(k.totals, info)
		if strings.HasPrefix(info.Kind, "Keyed[") {
			stats.Limit = 0 // it has the name, and the places, of its pool
		}
		k.totals.gauge(stats, times)
	}
	for id, k := range p.known {
		if !k.seen {
			if k.busy {
				k.count(k.totals, k.info) // it has closed since
			}
			delete(p.known, id)
			p.gone[id] = true
		}
		k.seen = false
	}
	if len(p.gone) >= maxGone {
		p.gone, p.left = make(map[uint64]bool), p.gone
	}
}

// clip returns a name, or as much of it as is used, without a part of a character at its end.
func clip(name string) string {
	if len(name) <= longestName {
		return name
	}
	n := longestName
	for n > longestName-utf8.UTFMax && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// totals returns the totals of the pools with that name.
func (p *Pools) totals(name string) *Totals {
	if name = p.clean(clip(name)); name == "" {
		name = unnamed
	}
	if p.names[name] == nil && len(p.names) >= p.maxNames {
		name = other
	}
	t := p.names[name]
	if t == nil {
		t = &Totals{Name: name, Since: p.last}
		p.names[name] = t
		p.list = append(p.list, t)
	}
	return t
}

// count adds to the totals what the pool's counters and histograms have gained, and returns the values it read.
func (k *knownPool) count(to *Totals, info weir.PoolInfo) (weir.Stats, weir.Times) {
	s, t := info.Stats(), info.Times()
	to.grow(&k.counted, s, t)
	k.busy, k.info = s.Workers > 0, weir.PoolInfo{}
	if k.busy {
		k.info = info
	}
	return s, t
}

// An Option sets up [Pools].
type Option interface{ apply(*Pools) }

type option func(*Pools)

func (o option) apply(p *Pools) { o(p) }

// Only leaves out the pools for which keep returns false. Look calls keep for each pool, one call at a time.
// keep must be quick and must not call Look of the same Pools. It should always give the same answer for a pool.
func Only(keep func(weir.PoolInfo) bool) Option {
	must(keep != nil, "choice of pools must not be nil", "nil")
	return option(func(p *Pools) { p.keep = keep })
}

// MaxNames sets how many names have totals of their own: the first n that Look finds. Pools with other names
// share the name "other". The default is 1000.
func MaxNames(n int) Option {
	must(n >= 0, "number of names must be at least 0", n)
	return option(func(p *Pools) { p.maxNames = n })
}

// Clean sets the function that turns a pool's [weir.Name], cut to its first 128 bytes, into the name of its
// Totals. Pools whose clean names are equal share their totals; an empty clean name becomes "unnamed". Look
// calls clean for each new pool, one call at a time. clean must be quick and must not call Look of the same
// Pools. It should always return the same result for a name. By default names remain as they are.
func Clean(clean func(name string) string) Option {
	must(clean != nil, "function for names must not be nil", "nil")
	return option(func(p *Pools) { p.clean = clean })
}

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("exporter", holds, rule, got) }
