package weirhttp

import (
	"net/http"
	"time"

	"github.com/64ed045f/weir"
)

// An Option sets up a [Limiter].
type Option interface{ apply(*limitOptions) }

type limitOptions struct {
	queueSize   int // -1 for as many as the limit
	maxWait     time.Duration
	newestFirst bool
	priority    func(*http.Request) int    // nil for none
	perKey      int                        // how many requests with the same key may run; 0 for no such limit
	key         func(*http.Request) string // nil for none
	perKeyQueue int                        // -1 for half of the queue
	exempt      func(*http.Request) bool   // nil for none
	pool        *weir.Pool                 // nil for none

	status     int
	retryAfter time.Duration
	refuse     func(http.ResponseWriter, *http.Request, Reason) // nil for status and text
}

const (
	defaultMaxWait    = time.Second
	defaultRetryAfter = time.Second
)

type limitOption func(*limitOptions)

func (set limitOption) apply(o *limitOptions) { set(o) }

// Queue sets how many requests may wait at once; the default is the limit given to [Limit]. With Queue(0), a
// request that finds no free slot is refused.
func Queue(n int) Option {
	must(n >= 0, "queue must be at least 0", n)
	return limitOption(func(o *limitOptions) { o.queueSize = n })
}

// MaxWait sets how long a request may wait before it is refused. The default is 1 s. It should be well below
// the time after which clients give up, and below the server's WriteTimeout.
func MaxWait(d time.Duration) Option {
	must(d > 0, "longest wait must be above 0", d)
	return limitOption(func(o *limitOptions) { o.maxWait = d })
}

// NewestFirst makes the newest waiting request run next. When the queue is full, a new request takes the room
// of the oldest, which is refused. By default the oldest runs next, and a new one is refused.
//
// While more requests come than can be served, the clients that have waited longest are nearest to giving up.
// Oldest first, all wait for nearly as long as they can bear; newest first, most are served soon, and the
// others not at all. The order matters only under load, since no request waits while a slot is free. This is
// the adaptive LIFO of Ben Maurer, Fail at Scale, ACM Queue 13 (8), 2015. That article also shortens the wait
// while a queue lasts; here [Queue] and [MaxWait] bound it.
func NewestFirst() Option {
	return limitOption(func(o *limitOptions) { o.newestFirst = true })
}

// Priority sets a function that returns the priority of a request. The waiting request with the highest
// number runs next; among equals [NewestFirst] decides. When the queue is full, a request displaces a waiting
// one of the lowest number, if its own number is higher. Of several with that lowest number, the newest is
// refused, or with NewestFirst the oldest. By default all requests are equal.
//
// Priority does not interrupt running requests. While more important requests keep coming, others wait until
// [MaxWait]. The Limiter calls the function once for each request that is not [Exempt], on many goroutines at
// once. The function must not read the body.
func Priority(of func(*http.Request) int) Option {
	must(of != nil, "priority function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.priority = of })
}

// PerKey lets at most n requests with the same key run at once, so that one client cannot take all slots;
// [PerKeyQueue] does the same for the queue. A request whose key has n running requests waits, and others
// overtake it.
//
// The key may be a client's address or name, a tenant, or a route. An empty key is a key like any other. The
// Limiter calls the function once for each request that is not [Exempt], on many goroutines at once. The
// function must not read the body. A key takes memory only while a request with it runs or waits: clients
// that invent keys cannot make the Limiter remember more keys than requests.
func PerKey(n int, key func(*http.Request) string) Option {
	must(n >= 1, "limit per key must be at least 1", n)
	must(key != nil, "key function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.perKey, o.key = n, key })
}

// PerKeyQueue sets how many requests with the same key may wait at once. It needs [PerKey], and must not
// exceed [Queue]. The default is half of the queue, but at least 1 if there is a queue.
func PerKeyQueue(n int) Option {
	must(n >= 0, "queue per key must be at least 0", n)
	return limitOption(func(o *limitOptions) { o.perKeyQueue = n })
}

// Exempt sets a function that reports which requests run at once, whatever the load, such as health checks.
// These requests take no slot and are not counted. The Limiter calls the function once for each request, on
// many goroutines at once. The function must not read the body.
func Exempt(is func(*http.Request) bool) Option {
	must(is != nil, "exempting function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.exempt = is })
}

// On makes each request hold a place of the pool while it runs, as [weir.Pool.Do] does. So the limit of the
// pool bounds requests and tasks together. The handler still runs on the goroutine of net/http. A request with
// the context of a task of the pool, as by BaseContext of [net/http.Server], runs in the place of that task.
//
// The limit of the [Limiter] holds, too. A request that has a slot runs, or waits for its place in the order
// of the pool. A request without a slot waits in the queue of the Limiter, and only there [Priority],
// [PerKey] and [NewestFirst] hold; if these matter, set the limit below the pool's. [MaxWait] bounds both
// waits together, and both end when the request is gone. The Limiter refuses a request if the pool is closed,
// if as many wait for the pool as [weir.MaxWaiting] allows, or if the request waits for the pool for longer
// than [weir.ExpireAfter] allows.
//
// A handler may make groups, futures and streams on the same pool from the context of its request, and wait
// for them. Meanwhile it lends its place to them, as a task does.
func On(pool *weir.Pool) Option {
	must(pool != nil, "pool must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.pool = pool })
}

// Status sets the status of a refusal, 4xx or 5xx; the default is 503, Service Unavailable.
// Some proxies and clients understand 429, Too Many Requests, better.
func Status(code int) Option {
	must(code >= 400 && code <= 599, "status must be from 400 to 599", code)
	return limitOption(func(o *limitOptions) { o.status = code })
}

// Refusal sets a function that answers refused requests, for example in the format of an API, or with another
// status for some reasons. It may also log them. It must write a status, and should be quick. The headers
// Retry-After, Connection and Cache-Control are already set, and those of another answer are removed, see
// [Limit]; [Status] has no effect. Many goroutines call the function at once, each for its own request. All
// refusals share the values of the headers: to change one, here or in a handler outside, replace it with Set.
func Refusal(answer func(http.ResponseWriter, *http.Request, Reason)) Option {
	must(answer != nil, "function that answers must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.refuse = answer })
}

// RetryAfter sets the time after which refused clients may come again. A refusal states it in the header
// Retry-After, in seconds, rounded up. The default is 1 s; with 0 the header is not sent.
func RetryAfter(d time.Duration) Option {
	must(d >= 0, "time to retry after must be at least 0", d)
	return limitOption(func(o *limitOptions) { o.retryAfter = d })
}

func newLimitOptions(limit int, opts []Option) limitOptions {
	o := limitOptions{
		queueSize:   -1,
		maxWait:     defaultMaxWait,
		perKeyQueue: -1,
		status:      http.StatusServiceUnavailable,
		retryAfter:  defaultRetryAfter,
	}
	for _, opt := range opts {
		must(opt != nil, "option must not be nil", "nil")
		opt.apply(&o)
	}
	if o.queueSize < 0 {
		o.queueSize = limit
	}
	if o.perKeyQueue < 0 {
		o.perKeyQueue = min(max(1, o.queueSize/2), o.queueSize)
		return o
	}
	must(o.key != nil, "queue per key must come with PerKey", o.perKeyQueue)
	must(o.perKeyQueue <= o.queueSize, "queue per key must be at most the queue", o.perKeyQueue)
	return o
}
