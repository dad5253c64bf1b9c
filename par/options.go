package par

import (
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// An Option sets up a loop or a [Stream].
type Option interface {
	StreamOption
	loop()
}

// A StreamOption sets up a [Stream]. One that is not an [Option] too has no meaning for
// loops, and does not fit there.
type StreamOption interface{ apply(*options) }

type options struct {
	limit     int
	pool      *weir.Pool // nil for goroutines of the call's own
	keepGoing bool
	unordered bool
	ahead     int    // 0 for the default
	meter     *Meter // nil for none
	rate      *weir.RateLimit
	retry     *weir.Retrier
}

type option func(*options)

func (set option) apply(o *options) { set(o) }
func (option) loop()                {}

type streamOption func(*options)

func (set streamOption) apply(o *options) { set(o) }

// Limit sets how many calls of the function run at once at most; the default is
// [runtime.GOMAXPROCS]. For functions that wait, as for a network, set it to how many may
// wait at once. More goroutines than GOMAXPROCS gain nothing for computation: [Sort] and [SortFunc] take no more, nor does
// [Range] for a body that is quick, and [Reduce] of n items takes no more than √n, if that is more.
func Limit(n int) Option {
	must(n >= 1, "limit must be at least 1", n)
	return option(func(o *options) { o.limit = n })
}

// On makes a loop or a [Stream] call its function on workers of the pool, as a [weir.Pool.Group]
// does, instead of on goroutines of its own. The limit of the pool holds, and that of the loop,
// too: set [Limit] if the pool's is higher than [runtime.GOMAXPROCS]. What the pool refuses to run
// fails with [weir.ErrClosed], [weir.ErrFull] or [weir.ErrExpired], and with ErrClosed, in place of what its calls return, when the context of its [weir.Pool.Shutdown] ends while the pool runs a part of it.
//
// A task of the pool may run loops and streams on its own pool, to any depth and with any limit, if
// it gives them the context that it got itself; with another context it may wait forever.
//
// [Range], [Sort] and [SortFunc] need no context, and the pool's refusal is no failure for them:
// their caller takes part, and does alone what the pool has no room for, or refuses. Their helpers
// are queued like other tasks.
func On(pool *weir.Pool) Option {
	must(pool != nil, "pool must not be nil", "nil")
	return option(func(o *options) { o.pool = pool })
}

// KeepGoing lets a loop or [Stream] go on when a call fails: nothing is cancelled. A loop
// returns all errors, joined in the order of the items; a stream hands over each in its
// place. A panic still ends them. KeepGoing means nothing to [Range], [Reduce], [Sort]
// and [SortFunc].
func KeepGoing() Option {
	return option(func(o *options) { o.keepGoing = true })
}

// Rate makes each call wait for its turn: see [weir.Rate]. It holds no place meanwhile. Each try of [Retry] has a turn of its own. Rate means nothing to
// [Range], [Reduce], [Sort] and [SortFunc].
func Rate(r *weir.RateLimit) Option {
	inside.MustBeRate(r)
	return option(func(o *options) { o.rate = r })
}

// Retry retries calls that fail: see [weir.Retry]. The error of an item that has failed for good is a [*weir.RetryError], with that of its last try; with [KeepGoing] with those of
// all. It means nothing to [Range], [Reduce], [Sort] and [SortFunc].
func Retry(r *weir.Retrier) Option {
	inside.MustBeRetrier(r)
	return option(func(o *options) { o.retry = r })
}

// Ahead sets how many items a [Stream] has under way at most: taken from the source, and
// their results not yet handed to the consumer. So it bounds how much finished work
// waits; memory is allocated only as it comes. The default is twice the [Limit], but at least
// 32. If it is lower than the Limit, fewer calls run at once.
func Ahead(n int) StreamOption {
	must(n >= 1, "items ahead must be at least 1", n)
	return streamOption(func(o *options) { o.ahead = n })
}

// Unordered makes a [Stream] hand over results as they come, not in the order of the
// items: a slow item does not hold up those behind it.
func Unordered() StreamOption {
	return streamOption(func(o *options) { o.unordered = true })
}

func newOptions[O StreamOption](opts []O) options {
	if len(opts) == 0 {
		return options{limit: processors()}
	}
	return collect(opts)
}

// collect is apart from newOptions, so that without options nothing escapes to the heap.
func collect[O StreamOption](opts []O) options {
	o := options{limit: processors()}
	for _, opt := range opts {
		must(any(opt) != nil, "option must not be nil", "nil")
		opt.apply(&o)
	}
	return o
}

// prepare returns fn as the options want it to be called.
func prepare[T, R any](o *options, fn func(context.Context, T) (R, error)) func(context.Context, T) (R, error) {
	call, rate, retry := measured(o.meter, fn), o.rate, o.retry
	if rate == nil && retry == nil {
		return call
	}
	all := o.keepGoing
	return func(ctx context.Context, item T) (result R, err error) {
		if rate != nil {
			if err := inside.TakeTurn(ctx, rate); err != nil {
				return result, err
			}
		}
		if retry == nil {
			return call(ctx, item)
		}
		err = inside.Retry(ctx, retry, func(ctx context.Context) (err error) {
			result, err = call(ctx, item)
			return err
		}, all, rate)
		return result, err
	}
}

// prepareEach is prepare for a function without a result.
func prepareEach[T any](o *options, fn func(context.Context, T) error) func(context.Context, T) error {
	if o.rate == nil && o.retry == nil {
		return measuredEach(o.meter, fn)
	}
	call := prepare(o, func(ctx context.Context, item T) (none struct{}, err error) { return none, fn(ctx, item) })
	return func(ctx context.Context, item T) error {
		_, err := call(ctx, item)
		return err
	}
}

// group returns the group on which the function is called.
func (o *options) group(ctx context.Context, opts ...weir.GroupOption) *weir.Group {
	if o.pool != nil {
		return o.pool.Group(ctx, opts...)
	}
	own := make([]weir.Option, len(opts))
	for i, opt := range opts {
		own[i] = opt
	}
	return weir.NewGroup(ctx, o.limit, own...)
}
