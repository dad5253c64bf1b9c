package weirotel_test

import (
	"context"
	"fmt"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirotel"
)

// A collection over that many pools, each with a name of its own.
func BenchmarkProduce(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var pools []*weir.Pool
			for i := range n {
				pool := weir.New(4, weir.Name(fmt.Sprintf("bench %d", i)), weir.Measure(1))
				pools = append(pools, pool)
				for range 8 {
					noError(b, pool.Submit(nothing))
				}
				pool.Wait()
			}
			p := weirotel.NewProducer(only("bench"))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Produce(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			for _, pool := range pools {
				pool.Close()
			}
		})
	}
}

// A task without a span, with one of a tracer that does nothing, and with one that is recorded and then dropped.
func BenchmarkSpan(b *testing.B) {
	task := func(context.Context) error { return nil }
	for _, bench := range []struct {
		name string
		make func() func(context.Context) error
	}{
		{"without", func() func(context.Context) error { return task }},
		{"noop", spanMaker(task, weirotel.TracerProvider(noop.NewTracerProvider()))},
		{"global", spanMaker(task)},
		{"sdk", spanMaker(task, weirotel.TracerProvider(sdk.NewTracerProvider()))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = bench.make()(b.Context())
			}
		})
	}
}

func spanMaker(task func(context.Context) error, opts ...weirotel.SpanOption) func() func(context.Context) error {
	return func() func(context.Context) error { return weirotel.Span("task", task, opts...) }
}
