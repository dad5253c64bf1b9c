package weirprom

import (
	"fmt"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
)

// Collector is a [prometheus.Collector] for a program's use of Weir. [New] makes a Collector. Any number of
// goroutines may use it at once.
type Collector struct{ of []prometheus.Collector }

// New returns a collector that exports all pools of [weir.Pools], all queues of [exporter.Queues], and what
// the options add. It panics if two options give the same name to two limiters, two transports or two keepers.
//
// The metrics do not depend on the registry, but each registry takes only one collector of pools:
// [prometheus.Register] refuses a second one. The same collector may be in several registries.
func New(opts ...Option) *Collector {
	c := &config{taken: make(map[[2]string]bool), pools: []exporter.Option{exporter.Clean(clean)}}
	for _, o := range opts {
		must(o != nil, "option must not be nil", "nil")
		o.apply(c)
	}
	if !c.noPools {
		c.of = append(c.of, &pools{newEncoder(ofPools, ""), exporter.NewPools(c.pools...)})
	}
	if !c.noPools && !c.noQueues {
		c.of = append(c.of, queues{newEncoder(ofQueues, "")})
	}
	return &Collector{c.of}
}

// Describe sends the descriptions of all metrics that Collect may send.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, o := range c.of {
		o.Describe(to)
	}
}

// Collect sends all metrics with their present values. It reads the state of each worker of the pools. For
// each pool, limiter, transport and keeper, Collect takes for a short time the lock that their users take.
// Concurrent calls collect the pools one after the other. Collect asks the servers of all queues at once,
// each one time, and waits for at most two seconds.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, o := range c.of {
		o.Collect(to)
	}
}

// An Option sets up a [Collector].
type Option interface{ apply(*config) }

type config struct {
	of    []prometheus.Collector
	taken map[[2]string]bool // names in use, each with its kind
	pools []exporter.Option

	noPools, noQueues bool
}

type option func(*config)

func (o option) apply(c *config) { o(c) }

// NoPools leaves out all pools and queues. It is for a second collector in a registry that has another
// collector which exports them.
func NoPools() Option { return option(func(c *config) { c.noPools = true }) }

// NoQueues leaves out all queues. If many processes of a program share queues, only one or two of them should
// ask the servers.
func NoQueues() Option { return option(func(c *config) { c.noQueues = true }) }

// Only leaves out the pools for which keep returns false. keep must not collect from the same collector. See
// [exporter.Only].
func Only(keep func(weir.PoolInfo) bool) Option {
	must(keep != nil, "choice of pools must not be nil", "nil")
	return poolOption(exporter.Only(keep))
}

// MaxNames sets how many names of pools have series of their own: the first n that the collector finds. Pools
// with other names share the value "other". The default is 1000.
func MaxNames(n int) Option {
	must(n >= 0, "number of names must be at least 0", n)
	return poolOption(exporter.MaxNames(n))
}

func poolOption(o exporter.Option) Option {
	return option(func(c *config) { c.pools = append(c.pools, o) })
}

// Limiter adds a limiter. name is the value of its label "limiter".
func Limiter(name string, l *weirhttp.Limiter) Option {
	must(l != nil, "limiter must not be nil", "nil")
	return item(ofLimiters, name, func() *limiterCounts {
		return &limiterCounts{l.Stats(), l.Times()}
	})
}

// limiterCounts are the statistics and times of a limiter.
type limiterCounts struct {
	weirhttp.Stats
	weir.Times
}

// Transport adds a transport. name is the value of its label "transport".
func Transport(name string, t *weirhttp.Transport) Option {
	must(t != nil, "transport must not be nil", "nil")
	return item(ofTransports, name, func() *weir.Times { return new(t.Times()) })
}

// Keeper adds a [reuse.Keeper]. name is the value of its label "keeper". Keeper calls Stats once, and each
// collection calls it again.
func Keeper(name string, k interface{ Stats() reuse.KeeperStats }) Option {
	must(k != nil, "keeper must not be nil", "nil")
	_ = k.Stats() // panics here instead of at each collection, if k is a zero Keeper
	return item(ofKeepers, name, func() *reuse.KeeperStats { return new(k.Stats()) })
}

// item adds the values that read returns, under the name.
func item[T any](families []family[T], name string, read func() *T) Option {
	what := families[0].Labels[0]
	must(name != "" && utf8.ValidString(name), "name of a "+what+" must be valid UTF-8 and not empty", fmt.Sprintf("%q", name))
	return option(func(c *config) {
		must(!c.taken[[2]string{what, name}], "name of a "+what+" must not be that of another", fmt.Sprintf("%q", name))
		c.taken[[2]string{what, name}] = true
		c.of = append(c.of, &single[T]{newEncoder(families, name), read})
	})
}

// single exports one limiter, transport or keeper.
type single[T any] struct {
	encoder[T]
	read func() *T
}

// Collect sends the metrics of that limiter, transport or keeper.
func (s *single[T]) Collect(to chan<- prometheus.Metric) {
	for _, m := range s.append(nil, s.read()) {
		to <- m
	}
}

// must panics with the rule unless it holds.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirprom: %s, got %v", rule, got))
	}
}
