package weirotel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
	"github.com/64ed045f/weir/weirotel"
)

// A program has a PeriodicReader with an exporter in place of the ManualReader.
func ExampleNewProducer() {
	reader := metric.NewManualReader(metric.WithProducer(weirotel.NewProducer()))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = provider.Shutdown(context.Background()) }()

	pool := weir.New(4, weir.Name("example of a producer"))
	defer pool.Close()
	_ = pool.Submit(func() {})
	pool.Wait()

	var got metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &got); err != nil {
		fmt.Println(err)
	}
	show(got.ScopeMetrics, "weir.pool.finished", "example of a producer")
	// Output:
	// weir.pool.finished of "example of a producer": 1 {task}
}

// show prints the values of a metric for what has the name.
func show(scopes []metricdata.ScopeMetrics, metric, name string) {
	for _, s := range scopes {
		for _, m := range s.Metrics {
			if data, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == metric {
				for _, p := range data.DataPoints {
					if valuesOf(p.Attributes) == name {
						fmt.Printf("%s of %q: %d %s\n", metric, name, p.Value, m.Unit)
					}
				}
			}
		}
	}
}

// A program may ask the producer itself, without a reader.
func ExampleProducer_Produce() {
	pool := weir.New(4, weir.Name("example of Produce"))
	defer pool.Close()
	_ = pool.Submit(func() {})
	pool.Wait()

	scopes, err := weirotel.NewProducer().Produce(context.Background())
	show(scopes, "weir.pool.limit", "example of Produce")
	fmt.Println(err)
	// Output:
	// weir.pool.limit of "example of Produce": 4 {task}
	// <nil>
}

func ExampleLimiter() {
	limiter := weirhttp.Limit(http.NotFoundHandler(), 100)
	producer := weirotel.NewProducer(weirotel.NoPools(), weirotel.Limiter("api", limiter))
	scopes, _ := producer.Produce(context.Background())
	show(scopes, "weir.http.limiter.limit", "api")
	// Output: weir.http.limiter.limit of "api": 100 {request}
}

func ExampleTransport() {
	transport := &weirhttp.Transport{PerHost: 8}
	producer := weirotel.NewProducer(weirotel.NoPools(), weirotel.Transport("backends", transport))
	scopes, _ := producer.Produce(context.Background())
	for _, m := range scopes[0].Metrics {
		fmt.Println(m.Name, m.Unit)
	}
	// Output:
	// weir.http.transport.oldest_wait s
	// weir.http.transport.wait.duration s
	// weir.http.transport.run.duration s
}

func ExampleKeeper() {
	keeper := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 5, Open: func(context.Context) (int, error) { return 0, nil }})
	defer keeper.Close()
	producer := weirotel.NewProducer(weirotel.NoPools(), weirotel.Keeper("database", keeper))
	scopes, _ := producer.Produce(context.Background())
	show(scopes, "weir.keeper.capacity", "database")
	// Output: weir.keeper.capacity of "database": 5 {object}
}

// Two readers: the second gets one limiter alone.
func ExampleNoPools() {
	limiter := weirhttp.Limit(http.NotFoundHandler(), 100)
	all := weirotel.NewProducer()
	some := weirotel.NewProducer(weirotel.NoPools(), weirotel.Limiter("api", limiter))
	for _, p := range []*weirotel.Producer{all, some} {
		scopes, _ := p.Produce(context.Background())
		show(scopes, "weir.http.limiter.limit", "api")
	}
	// Output: weir.http.limiter.limit of "api": 100 {request}
}

// Pools of libraries stay out, if they have no name of the program's.
func ExampleOnly() {
	pool := weir.New(2, weir.Name("example of Only"))
	defer pool.Close()
	_ = pool.Submit(func() {})
	pool.Wait()

	producer := weirotel.NewProducer(weirotel.Only(func(p weir.PoolInfo) bool { return strings.HasPrefix(p.Name, "example of O") }))
	scopes, _ := producer.Produce(context.Background())
	show(scopes, "weir.pool.count", "example of Only")
	// Output: weir.pool.count of "example of Only": 1 {pool}
}

func ExampleMaxNames() {
	pool := weir.New(2, weir.Name("example of MaxNames"))
	defer pool.Close()
	_ = pool.Submit(func() {})
	pool.Wait()

	keep := weirotel.Only(func(p weir.PoolInfo) bool { return p.Name == "example of MaxNames" })
	scopes, _ := weirotel.NewProducer(keep, weirotel.MaxNames(0)).Produce(context.Background())
	show(scopes, "weir.pool.count", "other")
	// Output: weir.pool.count of "other": 1 {pool}
}

func ExampleMetrics() {
	for _, m := range weirotel.Metrics()[:3] {
		fmt.Println(m.Name, m.Type, m.Unit, m.Attributes)
	}
	// Output:
	// weir.pool.count UpDownCounter {pool} [weir.pool.name]
	// weir.pool.accepted Counter {task} [weir.pool.name]
	// weir.pool.finished Counter {task} [weir.pool.name]
}

// spansOf calls f with a provider, and prints the spans with their parents in alphabetical order.
func spansOf(f func(ctx context.Context, on weirotel.SpanOption)) {
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	ctx, request := provider.Tracer("").Start(context.Background(), "request")
	f(ctx, weirotel.TracerProvider(provider))
	request.End()
	names, lines := make(map[string]string), []string(nil)
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	for _, s := range spans.Ended() {
		if s.Parent().IsValid() {
			line := names[s.Parent().SpanID().String()] + "/" + s.Name() + ": " + s.Status().Code.String()
			if d := s.Status().Description; d != "" {
				line += ", " + d
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

// The program sets the provider by otel.SetTracerProvider, and needs no option.
func ExampleSpan() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		group := weir.NewGroup(ctx, 4, weir.KeepGoing())
		group.Go(weirotel.Span("resize", func(ctx context.Context) error { return nil }, on))
		group.Go(weirotel.Span("upload", func(ctx context.Context) error { return errors.New("no room") }, on))
		_ = group.Wait()
	})
	// Output:
	// request/resize: Unset
	// request/upload: Error, no room
}

func ExampleSpanValue() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		pool := weir.New(2)
		defer pool.Close()
		size := weir.Async(ctx, pool, weirotel.SpanValue("size", func(context.Context) (int, error) { return 42, nil }, on))
		fmt.Println(size.Get(ctx))
	})
	// Output:
	// 42 <nil>
	// request/size: Unset
}

func ExampleSpanEach() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		fetch := func(ctx context.Context, url string) error { return nil }
		_ = par.Each(ctx, []string{"a", "b"}, weirotel.SpanEach("fetch", fetch, on))
	})
	// Output:
	// request/fetch: Unset
	// request/fetch: Unset
}

func ExampleSpanMap() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		size := func(ctx context.Context, url string) (int, error) { return len(url), nil }
		fmt.Println(par.Map(ctx, []string{"a", "bcd"}, weirotel.SpanMap("size", size, on)))
	})
	// Output:
	// [1 3] <nil>
	// request/size: Unset
	// request/size: Unset
}

func ExampleSpanFunc() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		pool := weir.New(2)
		defer pool.Close()
		_ = pool.Submit(weirotel.SpanFunc(ctx, "log", func(ctx context.Context) {}, on))
	})
	// Output: request/log: Unset
}

func ExampleTracerProvider() {
	provider := trace.NewTracerProvider()
	task := weirotel.Span("task", func(context.Context) error { return nil }, weirotel.TracerProvider(provider))
	fmt.Println(task(context.Background()))
	// Output: <nil>
}

func ExampleStartOptions() {
	spansOf(func(ctx context.Context, on weirotel.SpanOption) {
		consumer := weirotel.StartOptions(api.WithSpanKind(api.SpanKindConsumer))
		_ = weirotel.Span("receive", func(context.Context) error { return nil }, on, consumer)(ctx)
	})
	// Output: request/receive: Unset
}

// A queue of package weirnats calls both functions: they are for its option Carry.
func ExampleInject() {
	before := otel.GetTextMapPropagator()
	defer otel.SetTextMapPropagator(before)
	otel.SetTextMapPropagator(propagation.TraceContext{})

	provider := trace.NewTracerProvider()
	put, span := provider.Tracer("shop").Start(context.Background(), "put")
	carried := weirotel.Inject(put) // with the message
	span.End()

	run := weirotel.Extract(context.Background(), carried) // in another process
	fmt.Println(api.SpanContextFromContext(run).TraceID() == span.SpanContext().TraceID())
	// Output: true
}
