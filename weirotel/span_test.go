package weirotel_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/weirotel"
)

// recorder records the spans of a provider of its own.
type recorder struct {
	*tracetest.SpanRecorder
	provider *sdk.TracerProvider
	on       weirotel.SpanOption
}

func record() recorder {
	r := tracetest.NewSpanRecorder()
	p := sdk.NewTracerProvider(sdk.WithSpanProcessor(r))
	return recorder{r, p, weirotel.TracerProvider(p)}
}

// parent starts a span in ctx.
func (r recorder) parent(ctx context.Context) (context.Context, trace.Span) {
	return r.provider.Tracer("test").Start(ctx, "parent")
}

// named returns the spans of that name that have ended.
func (r recorder) named(name string) (list []sdk.ReadOnlySpan) {
	for _, s := range r.Ended() {
		if s.Name() == name {
			list = append(list, s)
		}
	}
	return list
}

func (r recorder) one(t *testing.T, name string) sdk.ReadOnlySpan {
	t.Helper()
	list := r.named(name)
	if len(list) != 1 {
		t.Fatalf("%d spans %q have ended", len(list), name)
	}
	return list[0]
}

func get(list []attribute.KeyValue, key string) attribute.Value {
	for _, a := range list {
		if string(a.Key) == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

func event(t *testing.T, s sdk.ReadOnlySpan) []attribute.KeyValue {
	t.Helper()
	if len(s.Events()) != 1 || s.Events()[0].Name != "exception" {
		t.Fatalf("the events of %q are %v", s.Name(), s.Events())
	}
	return s.Events()[0].Attributes
}

func TestASpanIsAChildOfThatOfTheSubmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		pool := weir.New(2)
		ctx, parent := r.parent(t.Context())
		g := pool.Group(ctx)
		g.Go(weirotel.Span("group", func(ctx context.Context) error {
			time.Sleep(time.Second)
			trace.SpanFromContext(ctx).AddEvent("inside")
			return nil
		}, r.on))
		noError(t, g.Wait())
		results := weir.NewResults[int](pool.Group(ctx))
		results.Go(weirotel.SpanValue("result", func(context.Context) (int, error) { return 7, nil }, r.on))
		list, err := results.Wait()
		noError(t, err)
		equal(t, "value", list[0], 7)
		n, err := weir.Async(ctx, pool, weirotel.SpanValue("future", func(context.Context) (int, error) { return 8, nil }, r.on)).Get(ctx)
		noError(t, err)
		equal(t, "value", n, 8)
		noError(t, pool.Do(ctx, weirotel.Span("do", func(context.Context) error { return nil }, r.on)))
		noError(t, par.Each(ctx, []int{1}, weirotel.SpanEach("each", func(context.Context, int) error { return nil }, r.on)))
		doubled, err := par.Map(ctx, []int{1, 2}, weirotel.SpanMap("map", func(_ context.Context, n int) (int, error) { return 2 * n, nil }, r.on))
		noError(t, err)
		equal(t, "doubled", slices.Equal(doubled, []int{2, 4}), true)
		noError(t, pool.Submit(weirotel.SpanFunc(ctx, "func", func(context.Context) {}, r.on)))
		pool.Close()
		parent.End()

		for name, n := range map[string]int{"group": 1, "result": 1, "future": 1, "do": 1, "each": 1, "map": 2, "func": 1} {
			spans := r.named(name)
			equal(t, "spans "+name, len(spans), n)
			for _, s := range spans {
				equal(t, name+": parent", s.Parent().SpanID(), parent.SpanContext().SpanID())
				equal(t, name+": trace", s.SpanContext().TraceID(), parent.SpanContext().TraceID())
				equal(t, name+": status", s.Status().Code, codes.Unset)
				equal(t, name+": scope", s.InstrumentationScope().Name, "github.com/64ed045f/weir/weirotel")
			}
		}
		group := r.one(t, "group")
		equal(t, "time", group.EndTime().Sub(group.StartTime()), time.Second)
		equal(t, "event", group.Events()[0].Name, "inside")
	})
}

func TestATaskWhoseContextHasNoSpanIsARoot(t *testing.T) {
	r := record()
	pool := weir.New(1)
	g := pool.Group(t.Context())
	g.Go(weirotel.Span("group", func(context.Context) error { return nil }, r.on))
	noError(t, g.Wait())
	noError(t, pool.Submit(weirotel.SpanFunc(t.Context(), "func", func(context.Context) {}, r.on)))
	pool.Close()
	for _, name := range []string{"group", "func"} {
		s := r.one(t, name)
		equal(t, name+": parent", s.Parent().IsValid(), false)
		equal(t, name+": valid", s.SpanContext().IsValid(), true)
	}
}

// Promise 9 holds with the context that the task gets: with a limit of 1 all would wait forever otherwise.
func TestGroupsInATaskWithASpanGetItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		pool := weir.New(1)
		var nest func(depth int) func(context.Context) error
		nest = func(depth int) func(context.Context) error {
			return weirotel.Span(strings.Repeat("+", depth), func(ctx context.Context) error {
				if depth == 4 {
					return nil
				}
				g := pool.Group(ctx)
				g.Go(nest(depth + 1))
				if err := g.Wait(); err != nil {
					return err
				}
				_, err := weir.Async(ctx, pool, weirotel.SpanValue("future", func(context.Context) (int, error) { return 0, nil }, r.on)).Get(ctx)
				return err
			}, r.on)
		}
		g := pool.Group(t.Context())
		g.Go(nest(1))
		noError(t, g.Wait())
		for depth := 2; depth <= 4; depth++ {
			equal(t, "parent", r.one(t, strings.Repeat("+", depth)).Parent().SpanID(), r.one(t, strings.Repeat("+", depth-1)).SpanContext().SpanID())
		}
		equal(t, "futures", len(r.named("future")), 3)
		pool.Close()
	})
}

// The submitter's task lends its place to no task of Submit: the context of that says nothing of it.
func TestSpanFuncGivesATaskAContextOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		pool := weir.New(1)
		type key struct{}
		member, err := baggage.NewMember("tenant", "7")
		noError(t, err)
		bag, err := baggage.New(member)
		noError(t, err)
		ctx := baggage.ContextWithBaggage(context.WithValue(t.Context(), key{}, "secret"), bag)
		g := pool.Group(weir.Label(ctx, "label"))
		late := make(chan struct{})
		g.Go(weirotel.Span("submitter", func(ctx context.Context) error {
			return pool.Submit(weirotel.SpanFunc(ctx, "", func(ctx context.Context) {
				<-late
				noError(t, ctx.Err())
				equal(t, "value", ctx.Value(key{}), nil)
				equal(t, "baggage", baggage.FromContext(ctx).Member("tenant").Value(), "7")
				equal(t, "span", trace.SpanContextFromContext(ctx).IsValid(), true)
			}, r.on))
		}, r.on))
		noError(t, g.Wait())
		close(late) // the group is over, and its context
		pool.Close()
		s := r.one(t, "label")
		equal(t, "parent", s.Parent().SpanID(), r.one(t, "submitter").SpanContext().SpanID())
	})
}

func TestASpanIsNamedAfterTheLabel(t *testing.T) {
	r := record()
	g := weir.NewGroup(weir.Label(t.Context(), "resize"), 1)
	g.Go(weirotel.Span("", func(context.Context) error { return nil }, r.on))
	g.Go(weirotel.Span("given", func(context.Context) error { return nil }, r.on))
	noError(t, g.Wait())
	noError(t, weirotel.Span("", func(context.Context) error { return nil }, r.on)(t.Context()))
	for _, name := range []string{"resize", "given"} {
		equal(t, name+": label", get(r.one(t, name).Attributes(), "weir.task.label").AsString(), "resize")
	}
	s := r.one(t, "weir.task")
	equal(t, "label of none", get(s.Attributes(), "weir.task.label").Type(), attribute.EMPTY)
}

func TestASpanSaysHowLongItsTaskWasQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record()
		pool := weir.New(1)
		g := pool.Group(t.Context())
		sleep := func(context.Context) error { time.Sleep(time.Second); return nil }
		for _, name := range []string{"first", "second"} {
			g.Go(weirotel.Span(name, sleep, r.on))
		}
		twice := weirotel.Span("twice", sleep, r.on)
		g.Go(twice)
		g.Go(twice)
		noError(t, g.Wait())
		pool.Close()
		const key = "weir.task.wait.duration"
		equal(t, "first", get(r.one(t, "first").Attributes(), key).AsFloat64(), 0)
		equal(t, "second", get(r.one(t, "second").Attributes(), key).AsFloat64(), 1)
		equal(t, "twice", get(r.named("twice")[0].Attributes(), key).AsFloat64(), 2)
		equal(t, "twice, the second time", get(r.named("twice")[1].Attributes(), key).Type(), attribute.EMPTY)
	})
}

type badError struct{}

func (*badError) Error() string { return "bad \xff" }

type worseError struct{}

func (*worseError) Error() string { panic("no text") }

func TestAnErrorIsRecorded(t *testing.T) {
	r := record()
	for name, want := range map[string]error{"plain": errors.New("disk full"), "bad": &badError{}, "worse": &worseError{}} {
		got := weirotel.Span(name, func(context.Context) error { return want }, r.on)(t.Context())
		equal(t, name, got, want)
	}
	s := r.one(t, "plain")
	equal(t, "status", s.Status(), sdk.Status{Code: codes.Error, Description: "disk full"})
	equal(t, "type", get(s.Attributes(), "error.type").AsString(), "*errors.errorString")
	equal(t, "message", get(event(t, s), "exception.message").AsString(), "disk full")
	equal(t, "type", get(event(t, s), "exception.type").AsString(), "*errors.errorString")
	equal(t, "stack", get(event(t, s), "exception.stacktrace").Type(), attribute.EMPTY)
	equal(t, "bad text", r.one(t, "bad").Status().Description, "bad \uFFFD")
	equal(t, "no text", r.one(t, "worse").Status().Code, codes.Error)
}

func goesWrong() { panic(errBoom) }

var errBoom = errors.New("boom")

func TestOfALongErrorTheBeginningIsRecorded(t *testing.T) {
	r := record()
	long := errors.New(strings.Repeat("é", 1<<20))
	isError(t, weirotel.Span("long", func(context.Context) error { return long }, r.on)(t.Context()), long)
	s := r.one(t, "long")
	for what, got := range map[string]string{"status": s.Status().Description, "message": get(event(t, s), "exception.message").AsString()} {
		if len(got) > 1<<14+10 || !strings.HasPrefix(got, "ééé") || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("the %s has %d bytes", what, len(got))
		}
	}
}

func TestAPanicIsRecordedAndGoesOn(t *testing.T) {
	r := record()
	pool := weir.New(1)
	g := pool.Group(t.Context())
	g.Go(weirotel.Span("outer", func(ctx context.Context) error {
		inner := pool.Group(ctx)
		inner.Go(weirotel.Span("inner", func(context.Context) error { goesWrong(); return nil }, r.on))
		return inner.Wait()
	}, r.on))
	passed, ok := caught(func() { _ = g.Wait() }).(*weir.Panic)
	if !ok || !errors.Is(passed, errBoom) {
		t.Fatalf("Wait panics with %v", passed)
	}
	pool.Close()
	s := r.one(t, "inner")
	equal(t, "status", s.Status(), sdk.Status{Code: codes.Error, Description: "boom"})
	equal(t, "message", get(event(t, s), "exception.message").AsString(), "boom")
	equal(t, "type", get(event(t, s), "exception.type").AsString(), "*errors.errorString")
	if !strings.Contains(get(event(t, r.one(t, "outer")), "exception.message").AsString(), "boom") {
		t.Error("the outer span does not say what happened")
	}
	for _, name := range []string{"inner", "outer"} { // the outer has the stack of the task that panicked
		if stack := get(event(t, r.one(t, name)), "exception.stacktrace").AsString(); !strings.Contains(stack, "goesWrong") {
			t.Errorf("the stack of %s is\n%s", name, stack)
		}
	}
	equal(t, "outer", r.one(t, "outer").Status().Code, codes.Error)
}

// What panics in a plain task reaches the handler with its own value and stack, and the place where it happened.
func TestAPanicInAPlainTaskReachesItsPool(t *testing.T) {
	r := record()
	var mu sync.Mutex
	var got *weir.Panic
	pool := weir.New(1, weir.OnPanic(func(p *weir.Panic) {
		mu.Lock()
		defer mu.Unlock()
		got = p
	}))
	noError(t, pool.Submit(weirotel.SpanFunc(t.Context(), "func", func(context.Context) { goesWrong() }, r.on)))
	pool.Close()
	equal(t, "value", got.Value, any(errBoom))
	if !strings.Contains(string(got.Stack), "goesWrong") || !strings.Contains(got.Error(), "span_test.go:") {
		t.Errorf("%+v", got)
	}
	equal(t, "status", r.one(t, "func").Status().Code, codes.Error)
}

func TestASpanEndsWithGoexit(t *testing.T) {
	r := record()
	pool := weir.New(1)
	g := pool.Group(t.Context())
	g.Go(weirotel.Span("exit", func(context.Context) error {
		runtime.Goexit()
		return nil
	}, r.on))
	isError(t, g.Wait(), weir.ErrGoexit)
	pool.Close()
	s := r.one(t, "exit")
	equal(t, "status", s.Status(), sdk.Status{Code: codes.Error, Description: weir.ErrGoexit.Error()})
	equal(t, "events", len(s.Events()), 1)
}

func TestATaskRunsWithoutATracer(t *testing.T) {
	off := weirotel.TracerProvider(noop.NewTracerProvider())
	isError(t, weirotel.Span("off", func(context.Context) error { return errBoom }, off)(t.Context()), errBoom)
	equal(t, "panic", caught(func() { _ = weirotel.Span("off", func(context.Context) error { panic(7) }, off)(t.Context()) }), any(7))
	n, err := weirotel.SpanMap("off", func(_ context.Context, n int) (int, error) { return n, errBoom }, off)(t.Context(), 5)
	equal(t, "value", n, 5)
	isError(t, err, errBoom)
	// A span that is not sampled keeps its parent for what the task calls.
	never := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample()))
	ctx, parent := never.Tracer("").Start(t.Context(), "parent")
	noError(t, weirotel.Span("unsampled", func(ctx context.Context) error {
		equal(t, "trace", trace.SpanContextFromContext(ctx).TraceID(), parent.SpanContext().TraceID())
		return nil
	}, weirotel.TracerProvider(never))(ctx))
}

func TestSpansComeFromTheGlobalProvider(t *testing.T) {
	r := record()
	before := otel.GetTracerProvider()
	task := weirotel.Span("global", func(context.Context) error { return nil },
		weirotel.StartOptions(trace.WithAttributes(attribute.Int("size", 3)), trace.WithSpanKind(trace.SpanKindConsumer)))
	otel.SetTracerProvider(r.provider)
	defer otel.SetTracerProvider(before)
	noError(t, task(t.Context()))
	s := r.one(t, "global")
	equal(t, "attribute", get(s.Attributes(), "size").AsInt64(), 3)
	equal(t, "kind", s.SpanKind(), trace.SpanKindConsumer)
}

func TestANameThatIsNotUTF8IsMadeValid(t *testing.T) {
	r := record()
	noError(t, weirotel.Span("a\xffb", func(context.Context) error { return nil }, r.on)(t.Context()))
	r.one(t, "a\uFFFDb")
}

// Inject and Extract fit the option Carry of package weirnats.
func TestATraceGoesOnInAnotherProcess(t *testing.T) {
	carry := struct {
		inject  func(context.Context) map[string]string
		extract func(context.Context, map[string]string) context.Context
	}{weirotel.Inject, weirotel.Extract}
	before := otel.GetTextMapPropagator()
	defer otel.SetTextMapPropagator(before)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator())
	r := record()
	ctx, parent := r.parent(t.Context())
	equal(t, "names that travel without a propagator", len(carry.inject(ctx)), 0)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	customer, err := baggage.NewMember("customer", "7")
	noError(t, err)
	bag, err := baggage.New(customer)
	noError(t, err)
	carried := carry.inject(baggage.ContextWithBaggage(ctx, bag))
	parent.End()

	ctx = carry.extract(t.Context(), carried)
	equal(t, "baggage", baggage.FromContext(ctx).Member("customer").Value(), "7")
	noError(t, weirotel.SpanEach("send", func(context.Context, int) error { return nil }, r.on)(ctx, 1))
	span := r.one(t, "send")
	equal(t, "parent", span.Parent().SpanID(), parent.SpanContext().SpanID())
	equal(t, "trace", span.SpanContext().TraceID(), parent.SpanContext().TraceID())
}
