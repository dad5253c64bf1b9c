package weirotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
)

// Inject returns the span and the baggage in ctx in a form that can be sent to another process, as written by
// the propagator of [otel.SetTextMapPropagator]. Without a propagator the result is empty. Together, Inject
// and [Extract] carry a trace from the call of Put of a queue of package weirnats to the function that gets
// the message:
//
//	otel.SetTextMapPropagator(propagation.TraceContext{})
//	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Carry(weirotel.Inject, weirotel.Extract))
//	err = queue.Serve(ctx, pool, weirotel.SpanEach("send", send)) // a child of the span of Put
//
// A message has room for 4 KiB of this data; if there is more, Put returns an error.
func Inject(ctx context.Context) map[string]string {
	must(ctx != nil, "context must not be nil", "nil")
	carried := propagation.MapCarrier{}
	otel.GetTextMapPropagator().Inject(ctx, carried)
	return carried
}

// Extract returns ctx with the span and the baggage that [Inject] returned, in this process or another one.
func Extract(ctx context.Context, carried map[string]string) context.Context {
	must(ctx != nil, "context must not be nil", "nil")
	return otel.GetTextMapPropagator().Extract(ctx, propagation.MapCarrier(carried))
}
