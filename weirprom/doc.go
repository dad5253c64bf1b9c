// Package weirprom exports the pools of package weir, the limiters and transports of package weirhttp, and the keepers of package
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
// pool. Pools of the same name share their series: counters, gauges and buckets are sums, weir_pool_paused and weir_pool_closing count pools,
// and weir_pool_oldest_queued_seconds is the highest. weir_pools says how many pools they are of. Sums also suit programs that make
// a pool for each job.
//
// All pools without a name share the value "unnamed". The place where a pool was made would tell them apart, but it moves with each change of the
// file, and so would start new series with each release. A pool that operators watch should have a name. The page of package weirdebug shows the places.
//
// A name is a value of a label: there should be few. Work that differs from request to request has a [weir.Label] instead. Once there are as many
// names as [MaxNames] allows, pools with other names share the value "other". Of a name the first 128 bytes count, and each byte that is
// not UTF-8 becomes _, as does U+FFFD, which expressions of older servers must not have.
//
// # Counters
//
// Counters and histograms of a name only grow, also when its pools are closed or become garbage. They stay until the program ends, with gauges of 0.
// For that the collector remembers two histograms for each pool that is there, and two for each name.
//
// From one collection to the next the collector keeps the pools that have workers from becoming garbage, so that it counts what they have done until they were closed. A
// pool that had no worker, or was not there, at the last collection before its end is counted as it was then: what its last tasks, or all, have added since is lost.
// Each collector counts for itself: one that is made later begins with the pools that are there.
//
// While tasks are under way the counters of a pool may be off by those, see [weir.Stats]. Where one falls for that reason, the collector
// repeats its highest value, as Prometheus would take a lower one for a restart of the program.
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
