package exporter

import (
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// Names of what has none of its own.
const (
	unnamed = "unnamed" // pools without a name
	other   = "other"   // pools for whose names there is no room
)

// longestName is in bytes.
const longestName = 128

// maxGone is how many pools Pools remembers at least that were there.
const maxGone = 1000

// Pools adds up the pools of the program by name. [NewPools] makes one. Any number of goroutines may use it at once.
type Pools struct {
	maxNames int
	keep     func(weir.PoolInfo) bool
	clean    func(name string) string

	mu         sync.Mutex
	list       []*Totals // in the order in which their names were found
	names      map[string]*Totals
	known      map[uint64]*knownPool // by ID
	gone, left map[uint64]bool       // the latest pools that were known, and those before them
	last       time.Time             // of the last look; at first of the making
}

// knownPool is a pool that was there at the last look.
type knownPool struct {
	totals  *Totals
	counted Totals        // what its counters have added to totals
	seen    bool          // in the look that is under way
	busy    bool          // it has workers, and thus is no garbage: info is set
	info    weir.PoolInfo // that of a pool that is not busy would keep it from becoming garbage
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
		o.apply(p)
	}
	return p
}

// Look returns what the pools of each name add up to now, in the order in which it found the names. Later looks return the same names
// in the same places, and new ones behind them.
//
// It looks at each worker of the pools, and takes the lock of each pool for a short time. Calls follow one another. The caller may keep
// and change what Look returns.
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
			if p.gone[info.ID] || p.left[info.ID] { // it was counted before, and was not there for a moment, as it had no worker while it closed
				k.count(new(Totals), info)
			}
		}
		k.seen = true
		k.totals.gauge(k.count(k.totals, info))
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

// totals returns those of pools with that name.
func (p *Pools) totals(name string) *Totals {
	if name = p.clean(name[:min(len(name), longestName)]); name == "" {
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

// count adds what the counters and histograms of the pool have gained to the totals, and returns all that it has read.
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

// Only leaves out the pools for which keep returns false. Look calls keep for each pool, and not at the same time: keep must be quick, must
// not call Look of the same Pools, and should always answer the same for a pool.
func Only(keep func(weir.PoolInfo) bool) Option {
	must(keep != nil, "choice of pools must not be nil", "nil")
	return option(func(p *Pools) { p.keep = keep })
}

// MaxNames sets how many names have totals of their own: the first n that Look finds. Pools with other names share the name "other". The
// default is 1000.
func MaxNames(n int) Option {
	must(n >= 0, "number of names must be at least 0", n)
	return option(func(p *Pools) { p.maxNames = n })
}

// Clean sets what makes the [weir.Name] of a pool, or its first 128 bytes, a name of Totals: pools whose clean names are equal share their totals.
// An empty one becomes "unnamed". Look calls clean for each new pool, and not at the same time: clean must be quick, must not call Look of the
// same Pools, and should always return the same for a name. By default names remain as they are.
func Clean(clean func(name string) string) Option {
	must(clean != nil, "function for names must not be nil", "nil")
	return option(func(p *Pools) { p.clean = clean })
}

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("exporter", holds, rule, got) }
