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
	perKey      int                        // how many of a key run; 0 for no such limit
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

// Queue sets how many requests may wait at once; the default is the limit that [Limit] is given.
// With Queue(0) a request that finds no slot free is refused.
func Queue(n int) Option {
	must(n >= 0, "queue must be at least 0", n)
	return limitOption(func(o *limitOptions) { o.queueSize = n })
}

// MaxWait sets for how long a request waits at most; then it is refused. The default is 1 s.
// It should be well below the time after which clients give up, and below the server's
// WriteTimeout.
func MaxWait(d time.Duration) Option {
	must(d > 0, "longest wait must be above 0", d)
	return limitOption(func(o *limitOptions) { o.maxWait = d })
}

// NewestFirst makes the newest waiting request run next; when the queue is full, a new one takes
// the room of the oldest, which is refused. By default the oldest runs next, and a new one is
// refused.
//
// While more requests come than can be served, the clients that have waited for longest are the
// nearest to giving up. Oldest first, all wait for nearly as long as they can bear; newest first,
// most are served soon, and the others not at all. While a slot is free no request waits, so the
// order matters only under load: it is the adaptive LIFO of Ben Maurer, Fail at Scale, ACM Queue
// 13 (8), 2015. That article also shortens the wait while a queue lasts; here the length of the
// queue and [MaxWait] bound it.
func NewestFirst() Option {
	return limitOption(func(o *limitOptions) { o.newestFirst = true })
}

// Priority sets a function that says how important a request is: of those that wait, the one
// with the highest number runs next, and among equals [NewestFirst] decides. When the queue is
// full, a request displaces a waiting one of the lowest number, if its own is higher: of these the
// newest is refused, or with NewestFirst the oldest. By default all are equal.
//
// Requests that run are left alone. While more important requests keep coming, others wait until
// [MaxWait]. The Limiter calls the function once for each request that is not [Exempt], on many
// goroutines at once. The function must not read the body.
func Priority(of func(*http.Request) int) Option {
	must(of != nil, "priority function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.priority = of })
}

// PerKey lets at most n requests with the same key run at once, so that one client cannot take all
// slots; [PerKeyQueue] does the same for the queue. A request whose key has n running waits, and
// others overtake it.
//
// The key may be a client's address or name, a tenant, or a route. An empty key is a key like
// others. The Limiter calls the function once for each request that is not [Exempt], on many
// goroutines at once. The function must not read the body. A key takes memory only while a request
// with it runs or waits: clients that make keys up can make no more of them than requests.
func PerKey(n int, key func(*http.Request) string) Option {
	must(n >= 1, "limit per key must be at least 1", n)
	must(key != nil, "key function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.perKey, o.key = n, key })
}

// PerKeyQueue sets how many requests of the same key may wait at once. It goes with [PerKey],
// and must not exceed [Queue]. The default is half of the queue, but at least 1 if there is
// one.
func PerKeyQueue(n int) Option {
	must(n >= 0, "queue per key must be at least 0", n)
	return limitOption(func(o *limitOptions) { o.perKeyQueue = n })
}

// Exempt sets a function that says which requests run at once, whatever the load, such as those
// that ask for the server's health. They take no slot and are not counted. The Limiter calls the
// function once for each request, on many goroutines at once. The function must not read the body.
func Exempt(is func(*http.Request) bool) Option {
	must(is != nil, "exempting function must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.exempt = is })
}

// On has each request hold a place of the pool while it runs, as [weir.Pool.Do] does, so that
// requests and tasks together are bounded by the limit of the pool. The handler still runs on
// the goroutine of net/http.
//
// The limit of the [Limiter] holds, too: a request that has a slot runs, or waits for its place in
// the order of the pool. Only those without a slot wait in the queue of the Limiter, where
// [Priority], [PerKey] and [NewestFirst] hold; if these matter, set the limit below the pool's.
// [MaxWait] bounds both waits together, and both end when the request is gone. The Limiter refuses
// what the pool refuses: when it is closed, or as many wait for it as [weir.MaxWaiting] allows.
//
// A handler may make groups, futures and streams on the same pool from the context of its
// request, and wait for them: meanwhile it lends its place to them, as a task does.
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

// Refusal sets a function that answers the requests that are refused, such as in the format of an
// API, or with another status for some reasons; it may also log them. It must write a status, and
// should be quick. The headers Retry-After and Connection are set already; [Status] has no effect.
// Many goroutines call it at once, each for its own request. All refusals share the values of the headers: to change
// one, here or in a handler outside, replace it with Set.
func Refusal(answer func(http.ResponseWriter, *http.Request, Reason)) Option {
	must(answer != nil, "function that answers must not be nil", "nil")
	return limitOption(func(o *limitOptions) { o.refuse = answer })
}

// RetryAfter sets the time after which refused clients may come again: the refusal has it in the
// header Retry-After, in seconds, rounded up. The default is 1 s; with 0 the header is not
// sent.
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
