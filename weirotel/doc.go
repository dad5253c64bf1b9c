// Package weirotel tells OpenTelemetry about the pools of package weir, the queues of package weirnats, the limiters and transports of package weirhttp, and the keepers of
// package reuse: as metrics, and with a span for each task that asks for one.
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
// A [Producer] exports all pools of [weir.Pools], those of libraries included, without a line at each. The attribute weir.pool.name is the
// [weir.Name] of the pool. Pools of the same name share their data points: counters, up-down counters and buckets are sums, weir.pool.paused,
// weir.pool.throttled and weir.pool.closing count pools, and weir.pool.task.oldest_wait is the highest. weir.pool.count says how many pools they are of.
//
// Package [exporter] adds them up. Its documentation says which pools are called "unnamed" or "other", and how counters go on when pools are
// closed. What is not valid UTF-8 in a name becomes U+FFFD, as exporters refuse all data for one such byte.
//
// # Queues
//
// A Producer also exports all queues of [exporter.Queues], such as those of package weirnats that are open. The attribute weir.queue.name is the name of the queue,
// and weir.queue.server says where its messages are. The counts are those of the server: each process that has the queue open exports the same ones, which must not be
// added up. While a server does not answer weir.queue.up is 0, the queue has no other data points, and a collection takes two seconds longer. [NoQueues] is for
// processes that shall not ask.
//
// # Temporality
//
// The data are cumulative, whatever temporality the exporter prefers: the selector of a reader concerns the instruments of its
// provider alone, and the SDK passes the data of producers on as they are. A backend that takes only deltas needs a processor before it, such as
// cumulativetodelta in the Collector, which converts counters, but exponential histograms not in every version. What a queue has accepted began when the queue was
// made, which may be long before the start time of its data.
//
// The start time of a name's data is that of the last collection that did not find the name, and the time at which the producer was made for names that the
// first collection finds. So a producer that main makes before pools have tasks has the true times.
//
// # Histograms
//
// Histograms are exponential, with scale 2, whose buckets are those of [weir.Histogram]: no count is estimated. Where [weir.Measure] lets some
// tasks stand for others, so do their counts.
//
// # Several producers
//
// A producer may be given to several readers. Several producers may be given to one reader, if one alone exports pools: see [NoPools]. Otherwise the
// exporter gets all data points twice.
//
// # Spans
//
// [Span] and its like make a function of which each call has a span:
//
//   - [Span]: for the tasks of Group.Go and TryGo, and of Pool.Do.
//   - [SpanValue]: for those of Results.Go and Async, which return values.
//   - [SpanEach], [SpanMap]: for the functions of loops and streams of package par.
//   - [SpanFunc]: for those of Pool.Submit, which get no context.
//
// In the function of a FuncPool or Stateful, whose argument holds a context, call the result of Span at once:
//
//	err := weirotel.Span("send", send)(message.ctx)
//
// The span is a child of the span in the context that the task gets, which is the one in the context that its group or future was made from. Without any
// the span is the root of a trace. The task gets a context with the new span, which is still the context of the task: groups that are
// made from it lend its place (promise 9 of package weir).
//
// [Inject] and [Extract] take a trace to another process, through a queue of package weirnats.
//
// The span has these attributes, if they are known:
//
//   - weir.task.label: the [weir.Label] of the context;
//   - weir.task.wait.duration: the seconds from the call of Span, SpanValue or SpanFunc to the start of the task. If the function that the call has
//     returned runs several times, the first span alone has it;
//   - error.type: the type of what the task failed with.
//
// A task fails when it returns an error, panics, or calls [runtime.Goexit], which counts as [weir.ErrGoexit]. Then the status of the span is Error. The event
// "exception" has the error, or the value and the stack of the panic: that of the task that panicked first, if it comes out of a Wait. Both have the first
// 16 KiB of a longer text. A panic goes on with the same value. Where the tracer records nothing, as the trace is not sampled, the task just runs.
package weirotel
