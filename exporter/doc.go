// Package exporter adds up pools of package weir by name, and lists queues that outlive the program, for
// packages that export metrics. Packages weirprom and weirotel use it. An exporter for another system is one
// loop over what [Pools.Look] returns, and one over [Queues]:
//
//	pools := exporter.NewPools()
//	for range time.Tick(10 * time.Second) {
//		for _, t := range pools.Look() {
//			client.Gauge("weir.queued", t.Queued, "pool:"+t.Name)
//			client.Gauge("weir.oldest", t.Oldest.Seconds(), "pool:"+t.Name)
//		}
//	}
//
// # Names
//
// All pools of [weir.Pools] count, those of libraries included. Pools of the same name share their [Totals].
// Sums also suit programs that make a pool for each job.
//
// All pools without a name share the name "unnamed". The source line where a pool was made would distinguish
// them, but each change of the file moves that line, so each release would start new series. A pool that
// operators watch should have a [weir.Name]. The pages of package weirdebug show the source lines.
//
// Use few names, as each name has series of its own. For work that differs from request to request, use a
// [weir.Label] instead. Once there are as many names as [MaxNames] allows, pools with new names share the
// name "other". A pool whose own name is "other" or "unnamed" shares it with those pools. Only the first 128
// bytes of a name count. [Clean] replaces characters that a metrics system refuses in names.
//
// # Counters
//
// The counters and histograms of a name only grow, even after its pools are closed or garbage-collected. They
// stay until the program ends; the other values of a name without pools are 0. For this purpose Pools
// remembers two histograms for each live pool, and two for each name.
//
// Between two looks, Pools keeps the pools that have workers from being garbage-collected, so that it can count
// what they did before they were closed. A pool that had no worker at the last look before its end counts as it
// was at that look: what its later tasks added is lost. A pool that came and went between two looks does not
// count at all. Each Pools counts for itself: a later one starts with the pools that exist when it first looks.
//
// While tasks run, the counters of a pool may be off by those tasks, see [weir.Stats]. If a counter falls for
// that reason, Pools repeats its highest value, because most systems would take a lower value for a restart
// of the program. A system that wants the increase since the last export subtracts the previous look from
// this one; the difference is never negative.
//
// # Queues
//
// A queue on a server, such as one of package weirnats, is shared by all programs that use it. Each of them
// finds the same counts, so the counts of several programs must not be added up. Reading the counts takes a
// request to the server. [Queues] therefore asks once per call, waits for at most two seconds, and reports
// which queues have not answered. Package weirnats lists its queues by [AddQueue], as any other package may.
// Neither package depends on the packages that export metrics.
package exporter
