package weirotel

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
)

// scope is the name of the instrumentation scope of metrics and spans.
const scope = "github.com/64ed045f/weir/weirotel"

// Producer is a [metric.Producer] for a program's use of Weir. [NewProducer] makes a Producer. Any number of
// goroutines may use it at once.
type Producer struct {
	mu         sync.Mutex
	pools      pools
	limiters   items[limiterCounts]
	transports items[weir.Times]
	keepers    items[reuse.KeeperStats]
	made       time.Time
	noPools    bool
	noQueues   bool
	options    []exporter.Option
}

var _ metric.Producer = (*Producer)(nil)

// NewProducer returns a producer that exports all pools of [weir.Pools], all queues of [exporter.Queues], and what
// the options add. It panics if two options give the same name to two limiters, two transports or two keepers.
func NewProducer(opts ...Option) *Producer {
	p := &Producer{made: time.Now(), options: []exporter.Option{exporter.Clean(valid)}}
	for _, o := range opts {
		must(o != nil, "option must not be nil", "nil")
		o.apply(p)
	}
	p.pools.Pools = exporter.NewPools(p.options...)
	return p
}

// Produce returns all metrics with their present values. It returns the cause of ctx if ctx is done.
//
// Produce reads the state of each worker of the pools. For each pool, limiter, transport and keeper, Produce
// takes for a short time the lock that their users take. Concurrent calls do this one after the other. Produce
// asks the servers of all queues at once, each one time, and waits for at most two seconds, or for half of the
// time that the deadline of ctx leaves.
func (p *Producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	must(p != nil && p.pools.Pools != nil, "producer must be made by NewProducer", "nil or the zero value")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var queues []exporter.Queue
	if !p.noPools && !p.noQueues {
		ask, cancel := ctx, context.CancelFunc(func() {})
		if end, ok := ctx.Deadline(); ok { // leaves time for the rest
			ask, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		}
		queues = exporter.Queues(ask)
		cancel()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	list := p.metrics(queues)
	if len(list) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope}, Metrics: list}}, nil
}

func (p *Producer) metrics(queues []exporter.Queue) (list []metricdata.Metrics) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.noPools {
		list = appendMetrics(list, ofPools, p.pools.look(), now)
	}
	all, known := lookAt(queues, p.made)
	list = appendMetrics(list, ofQueues[:1], all, now)
	list = appendMetrics(list, ofQueues[1:], known, now)
	list = appendMetrics(list, ofLimiters, p.limiters.look(), now)
	list = appendMetrics(list, ofTransports, p.transports.look(), now)
	return appendMetrics(list, ofKeepers, p.keepers.look(), now)
}

// An Option sets up a [Producer].
type Option interface{ apply(*Producer) }

type option func(*Producer)

func (o option) apply(p *Producer) { o(p) }

// NoPools leaves out all pools and queues. It is for a second producer whose reader has another producer that
// exports them.
func NoPools() Option { return option(func(p *Producer) { p.noPools = true }) }

// NoQueues leaves out all queues. If many processes of a program share queues, only one or two of them should
// ask the servers.
func NoQueues() Option { return option(func(p *Producer) { p.noQueues = true }) }

// Only leaves out the pools for which keep returns false. keep must not collect from the same producer. See
// [exporter.Only].
func Only(keep func(weir.PoolInfo) bool) Option {
	must(keep != nil, "choice of pools must not be nil", "nil")
	return poolOption(exporter.Only(keep))
}

// MaxNames sets how many names of pools have data points of their own: the first n that the producer finds.
// Pools with other names share the name "other". The default is 1000.
func MaxNames(n int) Option {
	must(n >= 0, "number of names must be at least 0", n)
	return poolOption(exporter.MaxNames(n))
}

func poolOption(o exporter.Option) Option {
	return option(func(p *Producer) { p.options = append(p.options, o) })
}

// Limiter adds a limiter. name is its attribute weir.http.limiter.name.
func Limiter(name string, l *weirhttp.Limiter) Option {
	must(l != nil, "limiter must not be nil", "nil")
	mustName("limiter", name)
	return option(func(p *Producer) {
		p.limiters.add(ofLimiters, "limiter", name, p.made, func() *limiterCounts { return &limiterCounts{l.Stats(), l.Times()} })
	})
}

// Transport adds a transport. name is its attribute weir.http.transport.name.
func Transport(name string, t *weirhttp.Transport) Option {
	must(t != nil, "transport must not be nil", "nil")
	mustName("transport", name)
	return option(func(p *Producer) {
		p.transports.add(ofTransports, "transport", name, p.made, func() *weir.Times { return new(t.Times()) })
	})
}

// Keeper adds a [reuse.Keeper]. name is its attribute weir.keeper.name. Keeper calls Stats once, and each
// collection calls it again.
func Keeper(name string, k interface{ Stats() reuse.KeeperStats }) Option {
	must(k != nil, "keeper must not be nil", "nil")
	mustName("keeper", name)
	_ = k.Stats() // panics here instead of at each collection, if k is a zero Keeper
	return option(func(p *Producer) {
		p.keepers.add(ofKeepers, "keeper", name, p.made, func() *reuse.KeeperStats { return new(k.Stats()) })
	})
}

// items are the sources that options have added by name. Their counts began when the producer was made, or before.
type items[T any] struct {
	sources []source[T]
	reads   []func() *T
}

func (l *items[T]) add(families []family[T], what, name string, start time.Time, read func() *T) {
	for _, s := range l.sources {
		must(s.names[0].Value.AsString() != name, "name of a "+what+" must not be that of another", fmt.Sprintf("%q", name))
	}
	l.sources = append(l.sources, newSource(families, start, nil, name))
	l.reads = append(l.reads, read)
}

// look reads all values.
func (l *items[T]) look() []source[T] {
	for i, read := range l.reads {
		l.sources[i].value = read()
	}
	return l.sources
}

func mustName(what, name string) {
	must(name != "" && utf8.ValidString(name), "name of a "+what+" must be valid UTF-8 and not empty", fmt.Sprintf("%q", name))
}

// must panics with the rule unless it holds.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirotel: %s, got %v", rule, got))
	}
}
