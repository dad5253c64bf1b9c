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
// The span is a child of the one in the context that the function gets, and stands in the context that task gets, which is a context of the same
// task. If name is "", the span is named after the [weir.Label] of the context, or "weir.task" without one. Call Span where the task is submitted: the
// span says how long ago that was. The package documentation says what else it tells.
//
// The function returns what task does, and a panic or [runtime.Goexit] goes on. Any number of goroutines may call it at once. Span
// panics if task is nil.
func Span(name string, task func(ctx context.Context) error, opts ...SpanOption) func(ctx context.Context) error {
	must(task != nil, "task must not be nil", "nil")
	s, queued := newSpans(name, opts), newQueued()
	return func(ctx context.Context) error { return s.run(ctx, queued, task) }
}

// SpanValue is [Span] for tasks that return a value: those of [weir.Results] and [weir.Async].
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

// SpanEach is [Span] for a function of many items, such as that of par.Each: each call has a span, without weir.task.wait.duration.
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

// SpanFunc returns a function that runs task in a child of the span in ctx: for [weir.Pool.Submit] and its like, whose tasks get no context.
//
//	err := pool.Submit(weirotel.SpanFunc(ctx, "log", write))
//
// The context that task gets has the span, the weir.Label for the name of the span, and the baggage of ctx, and nothing else of ctx: it
// does not end with ctx, as the task may outlive its submitter, and is not that of the task that calls SpanFunc. Apart from that the span is as those
// of [Span].
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

// A SpanOption sets up the spans of [Span] and its like.
type SpanOption interface{ apply(*spans) }

type spanOption func(*spans)

func (o spanOption) apply(s *spans) { o(s) }

// TracerProvider sets where spans come from. Without it that is what otel.GetTracerProvider returns when the task starts.
func TracerProvider(p trace.TracerProvider) SpanOption {
	must(p != nil, "provider of tracers must not be nil", "nil")
	return spanOption(func(s *spans) { s.tracer = p.Tracer(scope) })
}

// StartOptions sets options with which each span starts, such as those of trace.WithAttributes and trace.WithSpanKind.
func StartOptions(opts ...trace.SpanStartOption) SpanOption {
	return spanOption(func(s *spans) { s.start = append(s.start, opts...) })
}
