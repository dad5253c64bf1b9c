package weirotel

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/64ed045f/weir"
)

// spans says what spans a function gets.
type spans struct {
	name   string
	label  string       // of the submitter's context, where the task has another
	tracer trace.Tracer // nil for that of the global provider
	start  []trace.SpanStartOption
}

func newSpans(name string, opts []SpanOption) *spans {
	s := &spans{name: name}
	for _, o := range opts {
		o.apply(s)
	}
	return s
}

// queued is when a task was submitted, for the first span that asks.
type queued struct {
	since time.Time
	asked atomic.Bool
}

func newQueued() *queued { return &queued{since: time.Now()} }

// labelOf returns the [weir.Label] of ctx, which is a label for profiles, too.
func labelOf(ctx context.Context) string {
	label, _ := pprof.Label(ctx, "weir.task")
	return label
}

// run runs task in a span.
func (s *spans) run(ctx context.Context, q *queued, task func(context.Context) error) (err error) {
	ctx, span := s.begin(ctx, q)
	defer func() { span.End() }() // a deferred End of the SDK's would recover from the panic, too
	if !span.IsRecording() {
		return task(ctx)
	}
	returned := false
	defer func() {
		switch value := recover(); {
		case value != nil:
			failPanic(span, value)
			panic(value)
		case !returned:
			fail(span, weir.ErrGoexit)
			exception(span, weir.ErrGoexit, "")
		case err != nil:
			fail(span, err)
			exception(span, err, "")
		}
	}()
	err = task(ctx)
	returned = true
	return err
}

// begin starts the span.
func (s *spans) begin(ctx context.Context, q *queued) (context.Context, trace.Span) {
	var wait time.Duration
	first := q != nil && !q.asked.Swap(true)
	if first {
		wait = time.Since(q.since)
	}
	tracer := s.tracer
	if tracer == nil {
		tracer = otel.GetTracerProvider().Tracer(scope)
	}
	name := s.name
	if name == "" {
		name = cmp.Or(s.label, labelOf(ctx), "weir.task")
	}
	inner, span := tracer.Start(ctx, valid(name), s.start...)
	if !span.IsRecording() {
		return inner, span
	}
	if first {
		span.SetAttributes(attribute.Float64("weir.task.wait.duration", wait.Seconds()))
	}
	if label := cmp.Or(s.label, labelOf(ctx)); label != "" {
		span.SetAttributes(attribute.String("weir.task.label", valid(label)))
	}
	return inner, span
}

// fail says that the task failed with value.
func fail(span trace.Span, value any) {
	span.SetStatus(codes.Error, text(value))
	span.SetAttributes(attribute.String("error.type", fmt.Sprintf("%T", value)))
}

// failPanic says that the task panics with value. A deferred function must call it, for the stack.
func failPanic(span trace.Span, value any) {
	fail(span, value)
	stack := debug.Stack()
	if passed, ok := value.(*weir.Panic); ok {
		stack = passed.Stack // of the task that panicked first
	}
	exception(span, value, string(stack))
}

// exception adds the event that the semantic conventions have for what a task failed with.
func exception(span trace.Span, value any, stack string) {
	attributes := []attribute.KeyValue{
		attribute.String("exception.type", fmt.Sprintf("%T", value)),
		attribute.String("exception.message", text(value)),
	}
	if stack != "" {
		attributes = append(attributes, attribute.String("exception.stacktrace", valid(stack)))
	}
	span.AddEvent("exception", trace.WithAttributes(attributes...))
}

// longestText is in bytes. An error may have the text of all that failed, and a collector refuses what is too large, with all other spans.
const longestText = 1 << 14

// text is what fmt says of value, or the beginning: other than a call of Error it does not panic.
func text(value any) string {
	all := fmt.Sprint(value)
	if len(all) <= longestText {
		return valid(all)
	}
	return valid(all[:longestText]) + "…"
}

// valid makes s valid UTF-8, as an exporter refuses all data for one byte that is not.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
