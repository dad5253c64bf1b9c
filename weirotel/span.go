package weirotel

import (
	"context"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
)

// Span returns a function that runs task in a span: for [weir.Group.Go] and TryGo, and [weir.Pool.Do].
//
//	group.Go(weirotel.Span("resize", resize))
//
// The span is a child of the span in the context that the function gets. task gets a context with the new
// span, which is a context of the same task. If name is "", the span has the [weir.Label] of the context as
// its name, or "weir.task" if there is no label. Call Span where the task is submitted: the span says how
// long the task has waited since then. The package documentation lists the other attributes.
//
// The function returns what task returns; a panic or [runtime.Goexit] of task goes on. Any number of
// goroutines may call it at once. Span panics if task is nil.
func Span(name string, task func(ctx context.Context) error, opts ...SpanOption) func(ctx context.Context) error {
	must(task != nil, "task must not be nil", "nil")
	s, queued := newSpans(name, opts), newQueued()
	return func(ctx context.Context) error { return s.run(ctx, queued, task) }
}

// SpanValue is [Span] for tasks that return a value: the tasks of [weir.Results] and [weir.Async].
func SpanValue[T any](name string, task func(ctx context.Context) (T, error), opts ...SpanOption) func(ctx context.Context) (T, error) {
	must(task != nil, "task must not be nil", "nil")
	s, queued := newSpans(name, opts), newQueued()
	return func(ctx context.Context) (value T, err error) {
		err = s.run(ctx, queued, func(ctx context.Context) (err error) {
			value, err = task(ctx)
			return err
		})
		return value, err
	}
}

// SpanEach is [Span] for a function that is called for many items, such as that of par.Each. Each call has a
// span, without weir.task.wait.duration.
func SpanEach[T any](name string, fn func(ctx context.Context, item T) error, opts ...SpanOption) func(ctx context.Context, item T) error {
	must(fn != nil, "function must not be nil", "nil")
	s := newSpans(name, opts)
	return func(ctx context.Context, item T) error {
		return s.run(ctx, nil, func(ctx context.Context) error { return fn(ctx, item) })
	}
}

// SpanMap is [SpanEach] for functions that return a value, such as those of par.Map, par.Filter and par.Stream.
func SpanMap[T, R any](name string, fn func(ctx context.Context, item T) (R, error), opts ...SpanOption) func(ctx context.Context, item T) (R, error) {
	must(fn != nil, "function must not be nil", "nil")
	s := newSpans(name, opts)
	return func(ctx context.Context, item T) (value R, err error) {
		err = s.run(ctx, nil, func(ctx context.Context) (err error) {
			value, err = fn(ctx, item)
			return err
		})
		return value, err
	}
}

// SpanFunc returns a function that runs task in a child of the span in ctx. It is for [weir.Pool.Submit] and
// its variants, whose tasks get no context.
//
//	err := pool.Submit(weirotel.SpanFunc(ctx, "log", write))
//
// The context that task gets has the new span and the baggage of ctx, and nothing else of ctx. It does not
// end with ctx, as the task may outlive its submitter. It is not the context of the task that calls SpanFunc.
// The [weir.Label] of ctx names the span if name is "", and is its attribute weir.task.label. Apart from that
// the span is like the spans of [Span].
func SpanFunc(ctx context.Context, name string, task func(ctx context.Context), opts ...SpanOption) func() {
	must(ctx != nil, "context must not be nil", "nil")
	must(task != nil, "task must not be nil", "nil")
	s, queued := newSpans(name, opts), newQueued()
	s.label = labelOf(ctx)
	own := trace.ContextWithSpan(context.Background(), trace.SpanFromContext(ctx))
	own = baggage.ContextWithBaggage(own, baggage.FromContext(ctx))
	return func() {
		_ = s.run(own, queued, func(ctx context.Context) error {
			task(ctx)
			return nil
		})
	}
}

// A SpanOption sets up the spans of [Span] and its variants.
type SpanOption interface{ apply(*spans) }

type spanOption func(*spans)

func (o spanOption) apply(s *spans) { o(s) }

// TracerProvider sets where spans come from. The default is the provider that otel.GetTracerProvider returns
// when the task starts.
func TracerProvider(p trace.TracerProvider) SpanOption {
	must(p != nil, "provider of tracers must not be nil", "nil")
	return spanOption(func(s *spans) { s.tracer = p.Tracer(scope) })
}

// StartOptions sets options for the start of each span, such as those of trace.WithAttributes and
// trace.WithSpanKind.
func StartOptions(opts ...trace.SpanStartOption) SpanOption {
	return spanOption(func(s *spans) { s.start = append(s.start, opts...) })
}
