package weirotel

import (
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
)

// Metric describes a metric that a [Producer] may export.
type Metric struct {
	Name        string
	Type        string // "Counter", "UpDownCounter", "Gauge" or "Histogram" (exponential)
	Unit        string
	Description string
	Attributes  []string // the first attribute names the source
}

// Metrics returns all metrics that a [Producer] may export, for programs that write dashboards, rules or documentation.
func Metrics() []Metric {
	return slices.Concat(metricsOf(ofPools), metricsOf(ofQueues), metricsOf(ofLimiters), metricsOf(ofTransports), metricsOf(ofKeepers))
}

func metricsOf[T any](families []family[T]) (list []Metric) {
	for _, f := range families {
		m := f.Metric
		m.Attributes = slices.Clone(m.Attributes)
		list = append(list, m)
	}
	return list
}

// limiterCounts are the statistics and times of a limiter.
type limiterCounts struct {
	weirhttp.Stats
	weir.Times
}

// The tables of all metrics. Each row describes a metric, and says how its values are read.
var (
	ofPools = named("weir.pool.name",
		upDown("weir.pool.count", "{pool}", "Pools that share this name.", "",
			number("", func(p *exporter.Totals) int { return p.Pools })),
		counter("weir.pool.accepted", "{task}", "Tasks accepted.", "",
			number("", func(p *exporter.Totals) uint64 { return p.Accepted })),
		counter("weir.pool.finished", "{task}", "Tasks that returned, panicked or called runtime.Goexit.", "",
			number("", func(p *exporter.Totals) uint64 { return p.Finished })),
		counter("weir.pool.rejected", "{task}", "Tasks that were refused.", "",
			number("", func(p *exporter.Totals) uint64 { return p.Rejected })),
		counter("weir.pool.panicked", "{task}", "Tasks that panicked.", "",
			number("", func(p *exporter.Totals) uint64 { return p.Panicked })),
		counter("weir.pool.handed_back", "{task}", "Accepted tasks that were removed before they started.", "",
			number("", func(p *exporter.Totals) uint64 { return p.HandedBack })),
		upDown("weir.pool.limit", "{task}", "The most tasks that run at once.", "",
			number("", func(p *exporter.Totals) int { return p.Limit })),
		upDown("weir.pool.extra_places", "{place}",
			"Places in use beyond the limit, of tasks that went on while their own place was in use, or since the limit was lowered.", "",
			number("", func(p *exporter.Totals) int { return p.Extra })),
		upDown("weir.pool.worker.count", "{worker}", "Workers, by what they do: the task of one runs, waits for other work (suspended), "+
			"or waits to go on (returning); or the worker has no task, and is parked (idle) or looks for one (searching).", "weir.pool.worker.state",
			number("running", func(p *exporter.Totals) int { return p.Running }),
			number("suspended", func(p *exporter.Totals) int { return p.Suspended }),
			number("returning", func(p *exporter.Totals) int { return p.Returning }),
			number("idle", func(p *exporter.Totals) int { return p.Idle }),
			number("searching", func(p *exporter.Totals) int { return p.Searching })),
		upDown("weir.pool.task.queued", "{task}", "Accepted tasks that have not started.", "",
			number("", func(p *exporter.Totals) int { return p.Queued })),
		upDown("weir.pool.submitter.waiting", "{submitter}", "Submitters that wait for room in the queue.", "",
			number("", func(p *exporter.Totals) int { return p.Waiting })),
		upDown("weir.pool.task.timers", "{task}", "Tasks that are not due: of After, At and Every.", "",
			number("", func(p *exporter.Totals) int { return p.Timers })),
		upDown("weir.pool.throttled", "{pool}", "Pools whose next task waits for its turn.", "",
			number("", func(p *exporter.Totals) int { return p.Throttled })),
		upDown("weir.pool.paused", "{pool}", "Pools whose workers take no tasks until Resume.", "",
			number("", func(p *exporter.Totals) int { return p.Paused })),
		upDown("weir.pool.closing", "{pool}", "Pools that accept no task any more and still have workers.", "",
			number("", func(p *exporter.Totals) int { return p.Closing })),
		oldest("weir.pool.task.oldest_wait", "For how long the oldest queued task has waited at least.",
			func(p *exporter.Totals) time.Duration { return p.Oldest }),
		histogram("weir.pool.wait.duration", "How long tasks were queued.", func(p *exporter.Totals) durations { return p.Wait }),
		histogram("weir.pool.run.duration", "How long tasks ran, without their waits for other tasks.", func(p *exporter.Totals) durations { return p.Run }),
	)

	// The first metric is of all queues, the others of the queues that have answered.
	ofQueues = named("weir.queue.name", named("weir.queue.server",
		upDown("weir.queue.up", "{queue}", "1 if the server has told the counts of the queue. Else 0, and the queue has no other data points.", "",
			number("", func(q *exporter.Queue) int {
				if q.Err != nil {
					return 0
				}
				return 1
			})),
		upDown("weir.queue.message.count", "{message}", "Messages in the queue: those that wait for their first delivery (waiting), "+
			"and those that were delivered and are not done (leased).", "weir.queue.message.state",
			number("waiting", func(q *exporter.Queue) int { return q.Counts.Waiting }),
			number("leased", func(q *exporter.Queue) int { return q.Counts.Leased })),
		upDown("weir.queue.message.redelivered", "{message}", "Messages in the queue that were delivered more than once.", "",
			number("", func(q *exporter.Queue) int { return q.Counts.Redelivered })),
		upDown("weir.queue.message.dead", "{message}", "Messages that have failed for good, and are kept.", "",
			number("", func(q *exporter.Queue) int { return q.Counts.Dead })),
		upDown("weir.queue.message.later", "{message}", "Messages that were put for a later time, and are not in the queue yet.", "",
			number("", func(q *exporter.Queue) int { return q.Counts.Later })),
		counter("weir.queue.accepted", "{message}", "Messages that the queue has accepted since it was made.", "",
			number("", func(q *exporter.Queue) uint64 { return q.Counts.Accepted })),
		oldest("weir.queue.message.oldest_age", "For how long the oldest message has been in the queue.",
			func(q *exporter.Queue) time.Duration { return q.Counts.Oldest }),
	)...)

	ofLimiters = named("weir.http.limiter.name",
		upDown("weir.http.limiter.limit", "{request}", "The most requests that run at once.", "",
			number("", func(l *limiterCounts) int { return l.Limit })),
		upDown("weir.http.limiter.running", "{request}", "Requests whose handler runs.", "",
			number("", func(l *limiterCounts) int { return l.Running })),
		upDown("weir.http.limiter.waiting", "{request}", "Requests that wait for their start.", "",
			number("", func(l *limiterCounts) int { return l.Waiting })),
		upDown("weir.http.limiter.key.count", "{key}", "Keys of the requests that run or wait.", "",
			number("", func(l *limiterCounts) int { return l.Keys })),
		counter("weir.http.limiter.served", "{request}", "Requests whose handler has ended.", "",
			number("", func(l *limiterCounts) uint64 { return l.Served })),
		counter("weir.http.limiter.refused", "{request}", "Requests that were refused, by the reason.", "weir.http.limiter.reason",
			number("queue_full", func(l *limiterCounts) uint64 { return l.QueueFull }),
			number("key_full", func(l *limiterCounts) uint64 { return l.KeyFull }),
			number("displaced", func(l *limiterCounts) uint64 { return l.Displaced }),
			number("too_late", func(l *limiterCounts) uint64 { return l.TooLate }),
			number("gone", func(l *limiterCounts) uint64 { return l.Gone }),
			number("closed", func(l *limiterCounts) uint64 { return l.Closed })),
		oldest("weir.http.limiter.oldest_wait", "For how long the oldest request that waits has done so.",
			func(l *limiterCounts) time.Duration { return l.Oldest }),
		histogram("weir.http.limiter.wait.duration", "How long requests waited for their start.", func(l *limiterCounts) durations { return l.Wait }),
		histogram("weir.http.limiter.run.duration", "How long the handlers of requests ran.", func(l *limiterCounts) durations { return l.Run }),
	)

	ofTransports = named("weir.http.transport.name",
		oldest("weir.http.transport.oldest_wait", "For how long the oldest request that waits for its turn has done so.",
			func(t *weir.Times) time.Duration { return t.Oldest }),
		histogram("weir.http.transport.wait.duration", "How long requests waited for their turn.", func(t *weir.Times) durations { return t.Wait }),
		histogram("weir.http.transport.run.duration", "How long requests were under way, up to the end of the response's body.",
			func(t *weir.Times) durations { return t.Run }),
	)

	ofKeepers = named("weir.keeper.name",
		upDown("weir.keeper.capacity", "{object}", "The most objects at once.", "",
			number("", func(k *reuse.KeeperStats) int { return k.Capacity })),
		upDown("weir.keeper.object.count", "{object}", "Objects that count against the capacity, by what happens to them.", "weir.keeper.object.state",
			number("opening", func(k *reuse.KeeperStats) int { return k.Opening }),
			number("checking", func(k *reuse.KeeperStats) int { return k.Checking }),
			number("idle", func(k *reuse.KeeperStats) int { return k.Idle }),
			number("leased", func(k *reuse.KeeperStats) int { return k.Leased }),
			number("closing", func(k *reuse.KeeperStats) int { return k.Closing })),
		upDown("weir.keeper.waiting", "{user}", "Users that wait for an object.", "",
			number("", func(k *reuse.KeeperStats) int { return k.Waiting })),
		counter("weir.keeper.gets", "{lease}", "Leases that were given.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Gets })),
		counter("weir.keeper.waits", "{call}", "Calls of Get that found no object ready.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Waits })),
		counter("weir.keeper.wait.time", "s", "How long calls of Get have waited, added up.", "",
			duration(func(k *reuse.KeeperStats) time.Duration { return k.WaitTime })),
		counter("weir.keeper.cancelled", "{call}", "Calls of Get whose context was done first.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Cancelled })),
		counter("weir.keeper.opened", "{object}", "Objects that were opened.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Opened })),
		counter("weir.keeper.failed", "{call}", "Calls of Open that gave no object.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Failed })),
		counter("weir.keeper.closed", "{object}", "Objects that were closed.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Closed })),
		counter("weir.keeper.expired", "{object}", "Objects that were closed because their idle timeout or lifetime was over.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Expired })),
		counter("weir.keeper.unhealthy", "{object}", "Objects that were closed because a check or heartbeat failed.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Unhealthy })),
		counter("weir.keeper.discarded", "{object}", "Objects that were discarded by their users.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Discarded })),
		counter("weir.keeper.detached", "{object}", "Objects that were taken out by their users.", "",
			number("", func(k *reuse.KeeperStats) int64 { return k.Detached })),
	)
)
