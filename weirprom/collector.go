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

// Collector is a [prometheus.Collector] of what a program uses of Weir. [New] makes one. Any number of goroutines may use it at once.
type Collector struct{ of []prometheus.Collector }

// New returns a collector that exports all pools of [weir.Pools], all queues of [exporter.Queues], and what the options add. It panics if two options give the same name to
// limiters, to transports or to keepers.
//
// Its metrics do not depend on the registry, but each registry takes only one collector of pools: [prometheus.Register] refuses a second one. The
// collector itself may be in several registries.
func New(opts ...Option) *Collector {
	c := &config{taken: make(map[[2]string]bool), pools: []exporter.Option{exporter.Clean(clean)}}
	for _, o := range opts {
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

// Collect sends all metrics with their present values. For each pool, limiter, transport and keeper it takes the lock that their users
// take, for a short time, and it looks at each worker of the pools. Calls of Collect for pools follow one another. It asks
// the server of each queue once, all at once, and waits for two seconds at most.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, o := range c.of {
		o.Collect(to)
	}
}

// An Option sets up a [Collector].
type Option interface{ apply(*config) }

type config struct {
	of    []prometheus.Collector
	taken map[[2]string]bool // names, with what they are of
	pools []exporter.Option

	noPools, noQueues bool
}

type option func(*config)

func (o option) apply(c *config) { o(c) }

// NoPools leaves all pools and queues out: for a second collector in the registry of one that exports them.
func NoPools() Option { return option(func(c *config) { c.noPools = true }) }

// NoQueues leaves all queues out: for programs of many processes that share queues, of which one or two shall ask the servers.
func NoQueues() Option { return option(func(c *config) { c.noQueues = true }) }

// Only leaves out the pools for which keep returns false. keep must not collect from the same collector. See [exporter.Only].
func Only(keep func(weir.PoolInfo) bool) Option {
	must(keep != nil, "choice of pools must not be nil", "nil")
	return poolOption(exporter.Only(keep))
}

// MaxNames sets how many names of pools have series of their own: the first n that the collector finds. Pools with other names
// share the value "other". The default is 1000.
func MaxNames(n int) Option {
	must(n >= 0, "number of names must be at least 0", n)
	return poolOption(exporter.MaxNames(n))
}

func poolOption(o exporter.Option) Option {
	return option(func(c *config) { c.pools = append(c.pools, o) })
}

// Limiter adds a limiter, with name as the value of the label "limiter".
func Limiter(name string, l *weirhttp.Limiter) Option {
	must(l != nil, "limiter must not be nil", "nil")
	return item(ofLimiters, name, func() *limiterCounts {
		return &limiterCounts{l.Stats(), l.Times()}
	})
}

// limiterCounts are what a limiter does and has done.
type limiterCounts struct {
	weirhttp.Stats
	weir.Times
}

// Transport adds a transport, with name as the value of the label "transport".
func Transport(name string, t *weirhttp.Transport) Option {
	must(t != nil, "transport must not be nil", "nil")
	return item(ofTransports, name, func() *weir.Times { return new(t.Times()) })
}

// Keeper adds a [reuse.Keeper], with name as the value of the label "keeper". It calls Stats once, as each collection does.
func Keeper(name string, k interface{ Stats() reuse.KeeperStats }) Option {
	must(k != nil, "keeper must not be nil", "nil")
	_ = k.Stats() // panics here, rather than at each collection, if the keeper is not made
	return item(ofKeepers, name, func() *reuse.KeeperStats { return new(k.Stats()) })
}

// item adds what read returns under the name.
func item[T any](families []family[T], name string, read func() *T) Option {
	what := families[0].Labels[0]
	must(name != "" && utf8.ValidString(name), "name of a "+what+" must be valid UTF-8 and not empty", fmt.Sprintf("%q", name))
	return option(func(c *config) {
		must(!c.taken[[2]string{what, name}], "name of a "+what+" must not be that of another", fmt.Sprintf("%q", name))
		c.taken[[2]string{what, name}] = true
		c.of = append(c.of, &single[T]{newEncoder(families, name), read})
	})
}

// single exports one thing.
type single[T any] struct {
	encoder[T]
	read func() *T
}

// Collect sends the metrics of the thing.
func (s *single[T]) Collect(to chan<- prometheus.Metric) {
	for _, m := range s.append(nil, s.read()) {
		to <- m
	}
}

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirprom: %s, got %v", rule, got))
	}
}
