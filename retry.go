package weir

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir/internal/inside"
)

// RetryPolicy says how often a call that fails is made again, and when: see [Retry].
type RetryPolicy struct {
	// Tries is how many calls are made at most, the first one included; 0 for no bound. Tries or Time must be given.
	Tries int
	// Time is how long after the start of the first call another one may start; 0 for no bound. It does not end a call that runs.
	Time time.Duration
	// Wait is the longest time between the first call and the second; 0 for 100 ms. It doubles before each call after that, up to MostWait.
	Wait time.Duration
	// MostWait is the longest time between two calls, except where [RetryAfter] sets it; 0 for 30 s.
	MostWait time.Duration
	// Panics says that a panic is a failure like others. Else it is passed on at once.
	Panics bool
	// OnRetry, if not nil, is called before each wait, on the goroutine whose call has failed: tries is how many calls there were, and err the last error.
	OnRetry func(tries int, err error, wait time.Duration)
}

// Retrier retries calls that fail: see [Retry]. Any number of pools, groups and goroutines may share one.
type Retrier struct{ policy RetryPolicy }

// Retry returns a Retrier that retries failed calls as the policy says. Before the n-th retry it waits a
// random time between 0 and min(Wait × 2ⁿ⁻¹, MostWait) (exponential back-off with full jitter: Marc Brooker,
// "Exponential Backoff And Jitter", 2015), or as long as the error asks by [RetryAfter]. Meanwhile the task
// holds no place but keeps its goroutine, as in [Blocking]. Retries stop at an error marked by [Permanent],
// after Tries or Time, and when the context ends. The final error is a [*RetryError].
//
// As an option it applies to the tasks of a group; to tasks of [Pool.Go], [Keyed.Go], [Async] and [Once] on a
// pool, but not on its lanes; and to a [FuncContext]. par.Retry applies it to the items of a loop or a stream,
// and [Retrier.Do] to any other call. The package documentation says more, under Retries.
//
// A call that ends its goroutine is not retried. A call that panics is retried only if the policy has Panics;
// if it never succeeds, the last panic is passed on.
func Retry(policy RetryPolicy) *Retrier {
	must(policy.Tries >= 0, "tries must be at least 0", policy.Tries)
	must(policy.Time >= 0, "time for tries must be at least 0", policy.Time)
	must(policy.Tries > 0 || policy.Time > 0, "policy must have Tries or Time", "neither")
	must(policy.Wait >= 0, "wait must be at least 0", policy.Wait)
	must(policy.MostWait >= 0, "longest wait must be at least 0", policy.MostWait)
	if policy.Wait == 0 {
		policy.Wait = 100 * time.Millisecond
	}
	if policy.MostWait == 0 {
		policy.MostWait = 30 * time.Second
	}
	return &Retrier{policy: policy}
}

// RetryError is the error of what has failed for good.
type RetryError struct {
	// Tries is how many calls there were.
	Tries int
	// Err is the error of the last.
	Err error
	// Earlier are those of the calls before, for a task of a group with [KeepGoing], or an item of package par with par.KeepGoing; else nil.
	Earlier []error
	// Cause is that of the context, if its end was why there was no other call; else nil.
	Cause error
}

// Error says how many calls there were, and the last error.
func (e *RetryError) Error() string {
	tries := "1 try"
	if e.Tries != 1 {
		tries = fmt.Sprintf("%d tries", e.Tries)
	}
	if e.Cause != nil {
		return fmt.Sprintf("weir: failed after %s (%v): %v", tries, e.Cause, e.Err)
	}
	return fmt.Sprintf("weir: failed after %s: %v", tries, e.Err)
}

// Unwrap returns Err, those in Earlier, and Cause, as far as there are any.
func (e *RetryError) Unwrap() []error {
	all := append([]error{e.Err}, e.Earlier...)
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}

// Permanent marks err as one after which there is no other try; nil stays nil. An error that wraps a permanent
// one, also by [errors.Join], is permanent.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

// RetryAfter marks err with the time to wait before the next try, as a server may ask for; it may be more
// than MostWait, and counts as 0 if it is negative. An error that wraps such an error asks for the same wait. If err
// is nil, RetryAfter returns nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfter{err, max(d, 0)}
}

type permanent struct{ err error }

func (p *permanent) Error() string { return p.err.Error() }
func (p *permanent) Unwrap() error { return p.err }

type retryAfter struct {
	err   error
	after time.Duration
}

func (r *retryAfter) Error() string { return r.err.Error() }
func (r *retryAfter) Unwrap() error { return r.err }

// Do calls call until it succeeds or has failed for good, and waits between two calls. Its error is then a
// [*RetryError]. Do makes the first call even if ctx is done. A task that calls Do keeps its place between
// two calls, since it may hold a lock that other tasks wait for. Tasks that are retried by an option give it
// away. If the policy has Panics, Do passes the last panic on as a [*Panic].
func (r *Retrier) Do(ctx context.Context, call func(ctx context.Context) error) error {
	r.mustBeMade()
	mustContext(ctx != nil)
	must(call != nil, "function must not be nil", "nil")
	err, panicked := r.do(ctx, call, tries{pass: pass})
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// tries is how a call is retried.
type tries struct {
	all   bool                                            // the error has those of all
	rates rates                                           // of which each but the first takes turns
	pass  func(ctx context.Context, d time.Duration) bool // lets the time between two pass; it reports false if ctx ends before
}

// rates are the one of a group or loop, and that of its pool; each is nil for none.
type rates [2]*RateLimit

// wait waits for a turn of each, without a place. It reports false if ctx ends first.
func (r rates) wait(ctx context.Context) bool {
	for i, rate := range r {
		if rate != nil && rate.waitPlaceless(ctx) != nil {
			for _, taken := range r[:i] {
				taken.giveBack()
			}
			return false
		}
	}
	return true
}

// do is Do. The last try has panicked if panicked is not nil.
func (r *Retrier) do(ctx context.Context, call func(ctx context.Context) error, how tries) (err error, panicked *Panic) { //nolint:staticcheck // the error is what matters
	begin := time.Now()
	var earlier []error
	for tries := 1; ; tries++ {
		if err, panicked = r.try(ctx, call); err == nil {
			return nil, nil
		}
		wait, again := r.next(tries, begin, err)
		if again && ctx.Err() == nil {
			if r.policy.OnRetry != nil {
				r.policy.OnRetry(tries, err, wait)
			}
			if r.waitForNext(ctx, begin, wait, how) {
				if how.all {
					earlier = append(earlier, err)
				}
				continue
			}
		}
		failed := &RetryError{Tries: tries, Err: err, Earlier: earlier}
		if again {
			failed.Cause = context.Cause(ctx)
		}
		return failed, panicked
	}
}

// waitForNext waits for the time and then for a turn. It reports false if ctx ends first, or if the policy's
// Time does.
func (r *Retrier) waitForNext(ctx context.Context, begin time.Time, wait time.Duration, how tries) bool {
	most := r.policy.Time
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, begin.Add(max(most, most+1))) // of the longest time there is no more
		defer cancel()
	}
	return how.pass(ctx, wait) && how.rates.wait(ctx) && (most == 0 || time.Since(begin) <= most)
}

// Next reports whether the policy allows another call, and how long to wait before it. tries is the number of
// calls so far, the last of which has failed with err; the first one began at begin. An err that is a
// [*Panic] itself stands for a call that has panicked. Next calls OnRetry if there is another call, and does
// not wait. It is for programs that keep the tries themselves, such as a queue on disk.
func (r *Retrier) Next(tries int, begin time.Time, err error) (wait time.Duration, again bool) {
	r.mustBeMade()
	must(tries >= 1, "number of tries must be at least 1", tries)
	must(err != nil, "error of a try must not be nil", "nil")
	if _, ok := err.(*Panic); ok && !r.policy.Panics { //nolint:errorlint // an error that wraps one was returned
		return 0, false
	}
	wait, again = r.next(tries, begin, err)
	if again && r.policy.OnRetry != nil {
		r.policy.OnRetry(tries, err, wait)
	}
	return wait, again
}

// passOn returns err, or passes a panic on.
func (r *Retrier) passOn(err error, panicked *Panic) error {
	if panicked != nil {
		panic(&retriedPanic{panicked})
	}
	return err
}

// retriedPanic is the panic of a task's last try, on its way to the group or pool.
type retriedPanic struct{ *Panic }

// try makes one call. panicked is not nil if that has panicked.
func (r *Retrier) try(ctx context.Context, call func(ctx context.Context) error) (err error, panicked *Panic) { //nolint:staticcheck // the error is what matters
	if r.policy.Panics {
		defer func() {
			if value := recover(); value != nil {
				panicked = new(reporter).caught(value)
				err = panicked
			}
		}()
	}
	return call(ctx), nil
}

// next returns for how long to wait after so many tries, and whether there is another try.
func (r *Retrier) next(tries int, begin time.Time, err error) (wait time.Duration, again bool) {
	p := &r.policy
	if p.Tries > 0 && tries >= p.Tries {
		return 0, false
	}
	if _, ok := errors.AsType[*permanent](err); ok {
		return 0, false
	}
	if m, ok := errors.AsType[*retryAfter](err); ok {
		wait = m.after
	} else {
		most := p.MostWait
		if doubled := p.Wait << min(tries-1, 62); doubled>>min(tries-1, 62) == p.Wait { // else it has overflowed
			most = min(most, doubled)
		}
		wait = time.Duration(rand.Uint64N(uint64(most) + 1))
	}
	// begin may be of a clock that is ahead
	return wait, p.Time == 0 || wait <= p.Time-max(0, time.Since(begin))
}

// pass lets time pass. It reports false if ctx ends before.
func pass(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// passPlaceless is pass without a place.
func passPlaceless(ctx context.Context, d time.Duration) (passed bool) {
	if d <= 0 {
		return pass(ctx, d)
	}
	Blocking(ctx, func() { passed = pass(ctx, d) })
	return passed
}

// retried returns task with its retries. It holds no place between two tries: the function of the program has returned.
func retried[T any](r *Retrier, all bool, of rates, task func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	return func(ctx context.Context) (value T, err error) {
		err = r.passOn(r.do(ctx, func(ctx context.Context) (err error) {
			value, err = task(ctx)
			return err
		}, tries{all, of, passPlaceless}))
		return value, err
	}
}

// retriedTask is retried for a task without a value.
func retriedTask(r *Retrier, all bool, of rates, task func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return r.passOn(r.do(ctx, task, tries{all, of, passPlaceless})) }
}

// For package par, which calls the function of a loop or stream itself.
func init() { //nolint:gochecknoinits // it starts nothing
	inside.Caught = func(value any) any { return new(reporter).caught(value) }
	inside.Report = func(pool, panicked any) {
		p, c := panicked.(*Panic), &pool.(*Pool).core
		p.Pool = c.reporter.name()
		c.reportPanic(p)
	}
	inside.MustBeRetrier = func(r any) { r.(*Retrier).mustBeMade() }
	inside.Retry = func(ctx context.Context, r any, call func(ctx context.Context) error, all bool, own, pools any) error {
		var of rates
		of[0], _ = own.(*RateLimit)
		of[1], _ = pools.(*RateLimit)
		again := r.(*Retrier)
		return again.passOn(again.do(ctx, call, tries{all, of, passPlaceless}))
	}
	inside.MustBeRate = func(r any) { r.(*RateLimit).mustBeMade() }
	inside.RateOf = func(pool any) any {
		if _, r := pool.(*Pool).core.reporter.retry(); r != nil {
			return r
		}
		return nil
	}
	inside.IsSubtask = func(ctx context.Context, pool any) bool {
		_, at := hostPool(ctx, false)
		return at != nil && at.core.engine.IsKin(pool.(*Pool).core.engine)
	}
	inside.TakeTurn = func(ctx context.Context, r any) error { return r.(*RateLimit).waitPlaceless(ctx) }
}

func (r *Retrier) mustBeMade() {
	must(r != nil && r.policy.Wait > 0, "retrier must be made by Retry", "nil or the zero value")
}

// apply implements [Option].
func (r *Retrier) apply(o *options) {
	r.mustBeMade()
	must(o.retry == nil, "retries must be given once", "twice")
	o.retry = r
}

// groupOption implements [GroupOption].
func (r *Retrier) groupOption() string { return ofAll }

// retryRates are the rates at which the tries of a group's tasks are made.
func (g *Group) retryRates() rates {
	_, r := g.pool.core.reporter.retry()
	return rates{g.options.rate, r}
}

// retry returns the retries of the pool's tasks, and the rate of the pool; each is nil for none.
func (r *reporter) retry() (*Retrier, *RateLimit) {
	if r.hooks == nil {
		return nil, nil
	}
	return r.hooks.retry, r.hooks.rate
}
