// Package exporter adds up pools of package weir by name, and lists queues that outlive the program, for packages that export metrics. weirprom and
// weirotel use it; an exporter for another system is a loop over what [Pools.Look] returns, and one over [Queues]:
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
// All pools of [weir.Pools] count, those of libraries included. Pools of the same name share their [Totals]. Sums also suit programs that make
// a pool for each job.
//
// All pools without a name share the name "unnamed". The place where a pool was made would tell them apart, but it moves with each change of the
// file, and so would start new series with each release. A pool that operators watch should have a [weir.Name]. The page of package weirdebug shows
// the places.
//
// There should be few names, as each has series of its own. Work that differs from request to request has a [weir.Label] instead. Once there are as
// many names as [MaxNames] allows, pools with other names share the name "other". A pool that has "other" or "unnamed" as its own name shares it with
// those. Of a name the first 128 bytes count. [Clean] replaces what a system for metrics refuses in names.
//
// # Counters
//
// Counters and histograms of a name only grow, also when its pools are closed or become garbage. They stay until the program ends, while all
// that is not a counter is 0 then. For that Pools remembers two histograms for each pool that is there, and two for each name.
//
// From one look to the next Pools keeps the pools that have workers from becoming garbage, so that it counts what they have done until they were
// closed. A pool that had no worker, or was not there, at the last look before its end is counted as it was then: what its last tasks, or all,
// have added since is lost. Each Pools counts for itself: one that is made later begins with the pools that are there.
//
// While tasks are under way the counters of a pool may be off by those, see [weir.Stats]. Where one falls for that reason, Pools repeats its
// highest value, as most systems would take a lower one for a restart of the program. A system that wants the increase since the last export
// gets the difference of two looks, which is never negative.
//
// # Queues
//
// A queue on a server, such as one of package weirnats, is the same for all programs that use it, and each of them finds the same counts: those of
// several programs must not be added up. Its counts take a request to the server. So [Queues] asks once a call, waits for two seconds at most, and tells which
// queues have not answered. Package weirnats lists its queues by [AddQueue], as any other package may; neither depends on those that export metrics.
package exporter
