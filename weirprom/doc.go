// Package weirprom exports metrics to Prometheus: of the pools of package weir, the queues of package
// weirnats, the limiters and transports of package weirhttp, and the keepers of package reuse.
//
//	prometheus.MustRegister(weirprom.New())
//	http.Handle("/metrics", promhttp.Handler())
//
// [Metrics] lists the metrics.
//
// # Pools
//
// The collector exports all pools of [weir.Pools], those of libraries included, without a line of code for
// each. The label "pool" is the [weir.Name] of the pool. Pools of the same name share their series: counters,
// gauges and buckets are sums, and weir_pool_oldest_queued_seconds is the highest value. weir_pool_paused,
// weir_pool_throttled and weir_pool_closing count pools. weir_pools is the number of pools behind a series.
//
// Package [exporter] adds the pools up. Its documentation says which pools are called "unnamed" or "other",
// and how counters go on when pools are closed. Bytes of a name that are not UTF-8 become _, as does U+FFFD,
// which expressions of older servers must not contain.
//
// # Queues
//
// The collector also exports all queues of [exporter.Queues], such as the open queues of package weirnats.
// The label "queue" is the name of the queue, and "server" says where its messages are. The counts are those
// of the server: each process that has the queue open exports the same counts, so take the maximum over
// processes, not the sum. While a server does not answer, weir_queue_up is 0, the queue has no other series,
// and a scrape takes two seconds longer. [NoQueues] is for processes that should not ask the servers.
//
// # Histograms
//
// Each histogram is exported in two forms, and Prometheus takes the form that it is configured for. The
// native form has schema 2, whose buckets are those of [weir.Histogram]. The classic form has the bounds 4^-9
// s (3.8 µs), 4^-8 s, and so on up to 4^3 s (64 s), and +Inf. Each classic bound is also a bound of the
// native form, so no count is estimated.
//
// # Limiters, transports and keepers
//
// No list names limiters, transports and keepers: [Limiter], [Transport] and [Keeper] add them to the
// collector, with names. Two of the same kind in one registry must have different names. Several collectors
// may be registered together if at most one of them exports pools, see [NoPools]. Otherwise register each by
// a [prometheus.WrapRegistererWith] with a different value of one label.
package weirprom
