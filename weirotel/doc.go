// Package weirotel reports to OpenTelemetry on the pools of package weir, the queues of package weirnats, the
// limiters and transports of package weirhttp, and the keepers of package reuse. It exports metrics, and
// makes a span for each task that asks for one.
//
//	// with package go.opentelemetry.io/otel/sdk/metric
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(weirotel.NewProducer()))
//	provider := metric.NewMeterProvider(metric.WithReader(reader))
//
//	group := pool.Group(ctx)
//	group.Go(weirotel.Span("resize", resize)) // a child of the span in ctx
//
// [Metrics] lists the metrics.
//
// # Pools
//
// A [Producer] exports all pools of [weir.Pools], those of libraries included, without a line of code for
// each. The attribute weir.pool.name is the [weir.Name] of the pool. Pools of the same name share their data
// points: counters, up-down counters and buckets are sums, and weir.pool.task.oldest_wait is the highest
// value. weir.pool.paused, weir.pool.throttled and weir.pool.closing count pools. weir.pool.count is the
// number of pools behind a data point.
//
// Package [exporter] adds the pools up. Its documentation says which pools are called "unnamed" or "other",
// and how counters go on when pools are closed. Bytes of a name that are not valid UTF-8 become U+FFFD,
// because exporters refuse all data for one such byte.
//
// # Queues
//
// A Producer also exports all queues of [exporter.Queues], such as the open queues of package weirnats. The
// attribute weir.queue.name is the name of the queue, and weir.queue.server says where its messages are. The
// counts are those of the server: each process that has the queue open exports the same counts, so they must
// not be added up. While a server does not answer, weir.queue.up is 0, the queue has no other data points,
// and a collection takes two seconds longer. [NoQueues] is for processes that should not ask the servers.
//
// # Temporality
//
// The data are cumulative, whatever temporality the exporter prefers: the selector of a reader applies only
// to the instruments of its provider, and the SDK passes on the data of producers unchanged. A backend that
// takes only deltas needs a processor in front of it, such as cumulativetodelta in the Collector. That
// processor converts counters, but exponential histograms only in some versions.
//
// The count of the messages that a queue has accepted began when the queue was made. That may be long before
// the start time of its data points.
//
// The start time of a name's data is the time of the last collection that did not find the name. If the first
// collection finds the name, it is the time at which the producer was made. So a producer that main makes
// before pools have tasks has the true times.
//
// # Histograms
//
// Histograms are exponential with scale 2, whose buckets are those of [weir.Histogram]: no count is
// estimated. Where [weir.Measure] lets some tasks stand for others, the counts include the others.
//
// # Several producers
//
// A producer may be given to several readers. Several producers may be given to one reader if only one of
// them exports pools: see [NoPools]. Otherwise the exporter gets all data points twice.
//
// # Spans
//
// [Span] and its variants wrap a function, so that each call of it has a span:
//
//   - [Span]: for the tasks of Group.Go and TryGo, and of Pool.Do.
//   - [SpanValue]: for the tasks of Results.Go and Async, which return values.
//   - [SpanEach], [SpanMap]: for the functions of loops and streams of package par.
//   - [SpanFunc]: for the tasks of Pool.Submit, which get no context.
//
// In the function of a FuncPool or Stateful, whose argument holds a context, call the result of Span at once:
//
//	err := weirotel.Span("send", send)(message.ctx)
//
// The span is a child of the span in the task's context, which is the span in the context that its group or
// future was made from. If there is none, the span is the root of a trace. The task gets a context with the
// new span. This context is still the context of the task: groups that are made from it lend its place
// (promise 9 of package weir).
//
// [Inject] and [Extract] take a trace to another process, through a queue of package weirnats.
//
// The span has these attributes, if their values are known:
//
//   - weir.task.label: the [weir.Label] of the context;
//   - weir.task.wait.duration: the seconds from the call of Span, SpanValue or SpanFunc to the start of the
//     task. If the returned function runs several times, only the first span has this attribute;
//   - error.type: the type of the error or panic value with which the task failed.
//
// A task fails when it returns an error, panics, or calls [runtime.Goexit], which counts as [weir.ErrGoexit].
// The status of the span is then Error. The event "exception" has the error, or the value and the stack of
// the panic. If the panic came out of a Wait, the stack is that of the task that panicked first. The status
// and the event have only the first 16 KiB of a longer text. A panic goes on with the same value. If the
// tracer does not record the span, because the trace is not sampled, the task just runs.
package weirotel
