// Package weirprom exports the pools of package weir, the queues of package weirnats, the limiters and transports of package weirhttp, and the keepers of package
// reuse as metrics of Prometheus.
//
//	prometheus.MustRegister(weirprom.New())
//	http.Handle("/metrics", promhttp.Handler())
//
// [Metrics] lists what it exports.
//
// # Pools
//
// The collector exports all pools of [weir.Pools], those of libraries included, without a line at each. The label "pool" is the [weir.Name] of the
// pool. Pools of the same name share their series: counters, gauges and buckets are sums, weir_pool_paused, weir_pool_throttled and weir_pool_closing count pools,
// and weir_pool_oldest_queued_seconds is the highest. weir_pools says how many pools they are of.
//
// Package [exporter] adds them up. Its documentation says which pools are called "unnamed" or "other", and how counters go on when pools are
// closed. Of a name each byte that is not UTF-8 becomes _, as does U+FFFD, which expressions of older servers must not have.
//
// # Queues
//
// The collector also exports all queues of [exporter.Queues], such as those of package weirnats that are open. The label "queue" is the name of the queue, and
// "server" says where its messages are. The counts are those of the server: each process that has the queue open exports the same ones, so
// take the max over processes, not the sum. While a server does not answer weir_queue_up is 0, the queue has no other series, and a scrape takes two seconds
// longer. [NoQueues] is for processes that shall not ask.
//
// # Histograms
//
// Each histogram is exported in two forms, and Prometheus takes the one that it is configured for. The native form has schema 2, whose buckets are those of
// [weir.Histogram]. The classic form has the bounds 4^-9 s (3.8 µs), 4^-8 s, and so on to 4^3 s (64 s), and +Inf. Each of these is a bound
// of the native form, so that no count is estimated.
//
// # Limiters, transports and keepers
//
// These are in no list: [Limiter], [Transport] and [Keeper] give them to the collector, with names. Each must have another name in its registry.
// Several collectors may be registered together if at most one exports pools, see [NoPools], or if each is registered by a
// [prometheus.WrapRegistererWith] with another value of one label.
package weirprom
