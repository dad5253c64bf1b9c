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

// spans says how to make the spans of a function.
type spans struct {
	name   string
	label  string       // of the submitter's context, if the task has a different context
	tracer trace.Tracer // nil for a tracer of the global provider
	start  []trace.SpanStartOption
}

func newSpans(name string, opts []SpanOption) *spans {
	s := &spans{name: name}
	for _, o := range opts {
		must(o != nil, "option must not be nil", "nil")
		o.apply(s)
	}
	return s
}

// queued is when a task was submitted; only the first span asks for it.
type queued struct {
	since time.Time
	asked atomic.Bool
}

func newQueued() *queued { return &queued{since: time.Now()} }

// labelOf returns the [weir.Label] of ctx, which is also a label for profiles.
func labelOf(ctx context.Context) string {
	label, _ := pprof.Label(ctx, "weir.task")
	return label
}

// run runs task in a span.
func (s *spans) run(ctx context.Context, q *queued, task func(context.Context) error) (err error) {
	ctx, span := s.begin(ctx, q)
	defer func() { span.End() }() // with defer span.End(), the SDK's End would recover from the panic, too
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

// fail sets the span's status to Error, with value.
func fail(span trace.Span, value any) {
	span.SetStatus(codes.Error, text(value))
	span.SetAttributes(attribute.String("error.type", fmt.Sprintf("%T", value)))
}

// failPanic records that the task panics with value. A deferred function must call it, so that the stack is there.
func failPanic(span trace.Span, value any) {
	fail(span, value)
	stack := debug.Stack()
	if passed, ok := value.(*weir.Panic); ok {
		stack = passed.Stack // the stack of the task that panicked first
	}
	exception(span, value, string(stack))
}

// exception adds the event that the semantic conventions define for a failure.
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

// longestText is in bytes. An error may join the texts of many failures, and a collector refuses a span that
// is too large together with all other spans of the request.
const longestText = 1 << 14

// text returns the start of what fmt prints of value. Unlike a call of Error, it does not panic.
func text(value any) string {
	all := fmt.Sprint(value)
	if len(all) <= longestText {
		return valid(all)
	}
	return valid(all[:longestText]) + "…"
}

// valid makes s valid UTF-8: an exporter refuses all data for one invalid byte.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
