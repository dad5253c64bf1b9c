package weirprom

import (
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
)

// Metric describes a metric that a [Collector] exports.
type Metric struct {
	Name   string
	Type   string   // "counter", "gauge" or "histogram"
	Unit   string   // "seconds", or "" for a number of things
	Help   string   // what the metric measures, in a sentence
	Labels []string // the first label names the source: "pool", "queue", "limiter", "transport" or "keeper"
}

// Metrics returns all metrics that a [Collector] may export, for programs that write dashboards, rules or documentation.
func Metrics() []Metric {
	return slices.Concat(metricsOf(ofPools), metricsOf(ofQueues), metricsOf(ofLimiters), metricsOf(ofTransports), metricsOf(ofKeepers))
}

// The tables of all metrics. Each row describes a metric, and says how its values are read.
var (
	ofPools = of("pool",
		gauge("weir_pools", "Pools that share this name.", func(p *exporter.Totals) int { return p.Pools }),
		counter("weir_pool_accepted_total", "Tasks accepted.", func(p *exporter.Totals) uint64 { return p.Accepted }),
		counter("weir_pool_finished_total", "Tasks that returned, panicked or called runtime.Goexit.", func(p *exporter.Totals) uint64 { return p.Finished }),
		counter("weir_pool_rejected_total", "Tasks that were refused.", func(p *exporter.Totals) uint64 { return p.Rejected }),
		counter("weir_pool_panicked_total", "Tasks that panicked.", func(p *exporter.Totals) uint64 { return p.Panicked }),
		counter("weir_pool_handed_back_total", "Accepted tasks that were removed before they started.", func(p *exporter.Totals) uint64 { return p.HandedBack }),
		gauge("weir_pool_limit", "The most tasks that run at once.", func(p *exporter.Totals) int { return p.Limit }),
		gauge("weir_pool_extra_places", "Places in use beyond the limit, of tasks that went on while their own place was in use, or since the limit was lowered.",
			func(p *exporter.Totals) int { return p.Extra }),
		gaugeBy("state", "weir_pool_workers", "Workers, by what they do: the task of one runs, waits for other work (suspended), or waits to go on (returning); "+
			"or the worker has no task, and is parked (idle) or looks for one (searching).",
			part("running", func(p *exporter.Totals) int { return p.Running }),
			part("suspended", func(p *exporter.Totals) int { return p.Suspended }),
			part("returning", func(p *exporter.Totals) int { return p.Returning }),
			part("idle", func(p *exporter.Totals) int { return p.Idle }),
			part("searching", func(p *exporter.Totals) int { return p.Searching })),
		gauge("weir_pool_queued", "Accepted tasks that have not started.", func(p *exporter.Totals) int { return p.Queued }),
		gauge("weir_pool_waiting", "Submitters that wait for room in the queue.", func(p *exporter.Totals) int { return p.Waiting }),
		gauge("weir_pool_timers", "Tasks that are not due: of After, At and Every.", func(p *exporter.Totals) int { return p.Timers }),
		gauge("weir_pool_throttled", "Pools whose next task waits for its turn.", func(p *exporter.Totals) int { return p.Throttled }),
		gauge("weir_pool_paused", "Pools whose workers take no tasks until Resume.", func(p *exporter.Totals) int { return p.Paused }),
		gauge("weir_pool_closing", "Pools that accept no task any more and still have workers.", func(p *exporter.Totals) int { return p.Closing }),
		age("weir_pool_oldest_queued_seconds", "For how long the oldest queued task has waited at least.", func(p *exporter.Totals) time.Duration { return p.Oldest }),
		histogram("weir_pool_wait_seconds", "How long tasks were queued.", func(p *exporter.Totals) durations { return p.Wait }),
		histogram("weir_pool_run_seconds", "How long tasks ran, without their waits for other tasks.", func(p *exporter.Totals) durations { return p.Run }),
	)

	// The first metric is of all queues, the others of the queues that have answered.
	ofQueues = of("queue", of("server",
		gauge("weir_queue_up", "1 if the server has told the counts of the queue. Else 0, and the queue has no other series.", func(q *exporter.Queue) int {
			if q.Err != nil {
				return 0
			}
			return 1
		}),
		gaugeBy("state", "weir_queue_messages", "Messages in the queue: those that wait for their first delivery (waiting), and those that were delivered and are not done (leased).",
			part("waiting", func(q *exporter.Queue) int { return q.Counts.Waiting }),
			part("leased", func(q *exporter.Queue) int { return q.Counts.Leased })),
		gauge("weir_queue_redelivered", "Messages in the queue that were delivered more than once.", func(q *exporter.Queue) int { return q.Counts.Redelivered }),
		gauge("weir_queue_dead", "Messages that have failed for good, and are kept.", func(q *exporter.Queue) int { return q.Counts.Dead }),
		gauge("weir_queue_later", "Messages that were put for a later time, and are not in the queue yet.", func(q *exporter.Queue) int { return q.Counts.Later }),
		counter("weir_queue_accepted_total", "Messages that the queue has accepted since it was made.", func(q *exporter.Queue) uint64 { return q.Counts.Accepted }),
		age("weir_queue_oldest_seconds", "For how long the oldest message has been in the queue.", func(q *exporter.Queue) time.Duration { return q.Counts.Oldest }),
	)...)

	ofLimiters = of("limiter",
		gauge("weir_http_limiter_limit", "The most requests that run at once.", func(l *limiterCounts) int { return l.Limit }),
		gauge("weir_http_limiter_running", "Requests whose handler runs.", func(l *limiterCounts) int { return l.Running }),
		gauge("weir_http_limiter_waiting", "Requests that wait for their start.", func(l *limiterCounts) int { return l.Waiting }),
		gauge("weir_http_limiter_keys", "Keys of the requests that run or wait.", func(l *limiterCounts) int { return l.Keys }),
		counter("weir_http_limiter_served_total", "Requests whose handler has ended.", func(l *limiterCounts) uint64 { return l.Served }),
		counterBy("reason", "weir_http_limiter_refused_total", "Requests that were refused, by the reason.",
			part("queue_full", func(l *limiterCounts) uint64 { return l.QueueFull }),
			part("key_full", func(l *limiterCounts) uint64 { return l.KeyFull }),
			part("displaced", func(l *limiterCounts) uint64 { return l.Displaced }),
			part("too_late", func(l *limiterCounts) uint64 { return l.TooLate }),
			part("gone", func(l *limiterCounts) uint64 { return l.Gone }),
			part("closed", func(l *limiterCounts) uint64 { return l.Closed })),
		age("weir_http_limiter_oldest_waiting_seconds", "For how long the oldest request that waits has done so.", func(l *limiterCounts) time.Duration { return l.Oldest }),
		histogram("weir_http_limiter_wait_seconds", "How long requests waited for their start.", func(l *limiterCounts) durations { return l.Wait }),
		histogram("weir_http_limiter_run_seconds", "How long the handlers of requests ran.", func(l *limiterCounts) durations { return l.Run }),
	)

	ofTransports = of("transport",
		age("weir_http_transport_oldest_waiting_seconds", "For how long the oldest request that waits for its turn has done so.", func(t *weir.Times) time.Duration { return t.Oldest }),
		histogram("weir_http_transport_wait_seconds", "How long requests waited for their turn.", func(t *weir.Times) durations { return t.Wait }),
		histogram("weir_http_transport_run_seconds", "How long requests were under way, up to the end of the response's body.", func(t *weir.Times) durations { return t.Run }),
	)

	ofKeepers = of("keeper",
		gauge("weir_keeper_capacity", "The most objects at once.", func(k *reuse.KeeperStats) int { return k.Capacity }),
		gaugeBy("state", "weir_keeper_objects", "Objects that count against the capacity, by what happens to them.",
			part("opening", func(k *reuse.KeeperStats) int { return k.Opening }),
			part("checking", func(k *reuse.KeeperStats) int { return k.Checking }),
			part("idle", func(k *reuse.KeeperStats) int { return k.Idle }),
			part("leased", func(k *reuse.KeeperStats) int { return k.Leased }),
			part("closing", func(k *reuse.KeeperStats) int { return k.Closing })),
		gauge("weir_keeper_waiting", "Users that wait for an object.", func(k *reuse.KeeperStats) int { return k.Waiting }),
		counter("weir_keeper_gets_total", "Leases that were given.", func(k *reuse.KeeperStats) int64 { return k.Gets }),
		counter("weir_keeper_waits_total", "Calls of Get that found no object ready.", func(k *reuse.KeeperStats) int64 { return k.Waits }),
		spent("weir_keeper_wait_seconds_total", "How long calls of Get have waited, added up.", func(k *reuse.KeeperStats) time.Duration { return k.WaitTime }),
		counter("weir_keeper_cancelled_total", "Calls of Get whose context was done first.", func(k *reuse.KeeperStats) int64 { return k.Cancelled }),
		counter("weir_keeper_opened_total", "Objects that were opened.", func(k *reuse.KeeperStats) int64 { return k.Opened }),
		counter("weir_keeper_failed_total", "Calls of Open that gave no object.", func(k *reuse.KeeperStats) int64 { return k.Failed }),
		counter("weir_keeper_closed_total", "Objects that were closed.", func(k *reuse.KeeperStats) int64 { return k.Closed }),
		counter("weir_keeper_expired_total", "Objects that were closed because their idle timeout or lifetime was over.", func(k *reuse.KeeperStats) int64 { return k.Expired }),
		counter("weir_keeper_unhealthy_total", "Objects that were closed because a check or heartbeat failed.", func(k *reuse.KeeperStats) int64 { return k.Unhealthy }),
		counter("weir_keeper_discarded_total", "Objects that were discarded by their users.", func(k *reuse.KeeperStats) int64 { return k.Discarded }),
		counter("weir_keeper_detached_total", "Objects that were taken out by their users.", func(k *reuse.KeeperStats) int64 { return k.Detached }),
	)
)
