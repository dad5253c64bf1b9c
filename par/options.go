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

// A StreamOption sets up a [Stream]. A StreamOption that is not also an [Option] has no meaning for loops,
// and the compiler rejects it there.
type StreamOption interface{ apply(*options) }

type options struct {
	limit     int
	pool      *weir.Pool // nil: the loop starts goroutines of its own
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

// Limit sets the largest number of calls of the function that run at once; the default is
// [runtime.GOMAXPROCS]. For functions that wait, as for a network, set the limit to the number of calls that
// may wait at once. For computation, more goroutines than GOMAXPROCS gain nothing. [Sort] and [SortFunc] use
// at most GOMAXPROCS, as does [Range] for a quick body. [Reduce] of n items uses at most GOMAXPROCS or √n,
// whichever is more.
func Limit(n int) Option {
	must(n >= 1, "limit must be at least 1", n)
	return option(func(o *options) { o.limit = n })
}

// On makes a loop or a [Stream] call its function on workers of the pool, as a [weir.Pool.Group] does,
// instead of on goroutines of its own. Both the limit of the pool and the limit of the loop hold: set [Limit]
// if the pool's limit is higher than [runtime.GOMAXPROCS]. If the pool refuses to run something, the loop or
// stream fails with [weir.ErrClosed], [weir.ErrFull] or [weir.ErrExpired]. If the context of
// [weir.Pool.Shutdown] ends while the pool runs a part of the loop or stream, ErrClosed replaces what its
// calls return.
//
// A task of the pool may run loops and streams on its own pool, to any depth and with any limit. It must pass
// them the context that it got itself: with another context it may wait forever. As with [weir.Group.Go], a source
// must hold no lock over its yields that the methods of the context need.
//
// [Range], [Sort] and [SortFunc] need no context, and do not fail if the pool refuses their helpers, which are
// queued like other tasks: their caller takes part, and does itself what the pool refuses or has no room for.
func On(pool *weir.Pool) Option {
	must(pool != nil, "pool must not be nil", "nil")
	return option(func(o *options) { o.pool = pool })
}

// KeepGoing lets a loop or [Stream] go on when a call fails: nothing is cancelled. A loop returns all errors,
// joined in the order of the items; a stream hands over each error in its place. A panic still ends both.
// [Range], [Reduce], [Sort] and [SortFunc] ignore KeepGoing.
func KeepGoing() Option {
	return option(func(o *options) { o.keepGoing = true })
}

// Rate makes each call wait for its turn: see [weir.Rate]. The call holds no place meanwhile. Each try of
// [Retry] waits for a turn of its own. [Range], [Reduce], [Sort] and [SortFunc] ignore Rate.
func Rate(r *weir.RateLimit) Option {
	inside.MustBeRate(r)
	return option(func(o *options) { o.rate = r })
}

// Retry makes a loop or [Stream] retry calls that fail: see [weir.Retry]. The error of an item that has
// failed for good is a [*weir.RetryError]. It has the error of the last try, or with [KeepGoing] the errors
// of all tries. [Range], [Reduce], [Sort] and [SortFunc] ignore Retry.
func Retry(r *weir.Retrier) Option {
	inside.MustBeRetrier(r)
	return option(func(o *options) { o.retry = r })
}

// Ahead sets how many items of a [Stream] may be under way: taken from the source, with a result that the
// consumer has not received. So Ahead bounds how much finished work waits. The stream allocates memory for it
// only as needed. The default is twice the [Limit], but at least 32. If Ahead is lower than the Limit, fewer
// calls run at once.
func Ahead(n int) StreamOption {
	must(n >= 1, "items ahead must be at least 1", n)
	return streamOption(func(o *options) { o.ahead = n })
}

// Unordered makes a [Stream] hand over results as they get ready, not in the order of the items: a slow item
// does not hold up the items behind it.
func Unordered() StreamOption {
	return streamOption(func(o *options) { o.unordered = true })
}

func newOptions[O StreamOption](opts []O) options {
	if len(opts) == 0 {
		return options{limit: processors()}
	}
	return collect(opts)
}

// collect is separate from newOptions so that without options nothing escapes to the heap.
func collect[O StreamOption](opts []O) options {
	o := options{limit: processors()}
	for _, opt := range opts {
		must(any(opt) != nil, "option must not be nil", "nil")
		opt.apply(&o)
	}
	return o
}

// paced reports whether each call of a loop or stream with ctx takes a turn of the pool's rate. Then each is a task of
// the pool.
func (o *options) paced(ctx context.Context) bool {
	return o.pool != nil && inside.RateOf(o.pool) != nil && !inside.IsSubtask(ctx, o.pool)
}

// prepare wraps fn to follow the options meter, rate and retry.
func prepare[T, R any](o *options, fn func(context.Context, T) (R, error)) func(context.Context, T) (R, error) {
	call, rate, retry := measured(o.meter, fn), o.rate, o.retry
	var pools any
	if o.pool != nil {
		pools = inside.RateOf(o.pool)
	}
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
		}, all, rate, pools)
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

// group returns the group that runs the calls of the function.
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
