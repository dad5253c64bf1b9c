package weir

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often a call that fails is made again, and when: see [Retry].
type RetryPolicy struct {
	// Tries is how many calls are made at most, the first one included; 0 for no bound. Tries or Time must be given.
	Tries int
	// Time is until when after the beginning of the first call another one may begin; 0 for no bound. It does not end a call that runs.
	Time time.Duration
	// Wait is the longest time between the first call and the second; 0 for 100 ms. It doubles for each further call.
	Wait time.Duration
	// MostWait is the longest time between two calls, but for those that [RetryAfter] sets; 0 for 30 s.
	MostWait time.Duration
	// Panics says that a panic is a failure like others. Else it is passed on at once.
	Panics bool
	// OnRetry, if not nil, is called by the task that has failed, for the tries-th time and with err, before it waits.
	OnRetry func(tries int, err error, wait time.Duration)
}

// Retrier makes calls again that fail: see [Retry]. Any number of pools, groups and goroutines may share one.
type Retrier struct {
	policy RetryPolicy
	rate   *RateLimit // that of each try but the first; nil for none
}

// Retry has calls that fail made again, as the policy says. Before the n-th further call passes a random time from 0 to Wait × 2ⁿ⁻¹ (exponential back-off with
// full jitter: Marc Brooker, "Exponential Backoff And Jitter", 2015); or the one that the error sets by [RetryAfter]. No place is held meanwhile: that is for other tasks, as in [Blocking]. An error that
// [Permanent] has marked ends it, and so do the ends of Tries, Time and the context. The error of what has failed for good is a
// [*RetryError].
//
// As an option it holds
//
//   - for the tasks of a group, of [Results] too: with [KeepGoing] the error of each has those of all tries, else it has the last;
//   - for tasks of [Pool.Go] and [Async] on a pool or lane, and for a [FuncContext].
//
// With [Rate] each try has a turn of its own.
//
// With par.Retry it holds for the items of a loop or a stream, and [Retrier.Do] is for all else. A call that panics, or ends its goroutine, is not made again, unless
// the policy has Panics: then the panic of the last try is passed on.
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
	// Earlier are those of the calls before, for a group with [KeepGoing]; else nil.
	Earlier []error
	// Cause is that of the context, if its end was why there was no further call; else nil.
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

// Permanent marks err as one after which there is no further try; nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

// RetryAfter marks err with the time after which there is a further try, as a server may ask for it, also if that is more than MostWait; nil stays nil.
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

// Do calls call, again and again if it fails, until it has succeeded or failed for good. ctx should be that of the task that makes it, whose place is for others
// between two calls; any other one does as well.
func (r *Retrier) Do(ctx context.Context, call func(ctx context.Context) error) error {
	r.mustBeMade()
	mustContext(ctx != nil)
	must(call != nil, "function must not be nil", "nil")
	err, panicked := r.do(ctx, call, false, r.rate)
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// do is Do, whose error has those of all tries with all. Each try but the first takes a turn of rate, if that is not nil. The last try has panicked if panicked is not nil.
func (r *Retrier) do(ctx context.Context, call func(ctx context.Context) error, all bool, rate *RateLimit) (err error, panicked *Panic) { //nolint:staticcheck // the error is what matters
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
			if r.pass(ctx, begin, wait, rate) {
				if all {
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

// pass lets time pass, without a place, and then waits for a turn. It reports false if ctx ends before, or the time for tries does.
func (r *Retrier) pass(ctx context.Context, begin time.Time, wait time.Duration, rate *RateLimit) bool {
	most := r.policy.Time
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, begin.Add(most+1))
		defer cancel()
	}
	return pass(ctx, wait) && (rate == nil || rate.Wait(ctx) == nil) && (most == 0 || time.Since(begin) <= most)
}

// At returns a Retrier whose further tries have a turn of limit each.
func (r *Retrier) At(limit *RateLimit) *Retrier {
	r.mustBeMade()
	limit.mustBeMade()
	return &Retrier{r.policy, limit}
}

// must returns err, or passes a panic on.
func (r *Retrier) must(err error, panicked *Panic) error {
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

// next returns for how long to wait after so many tries, and whether there is a further one.
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
		if doubled := p.Wait << min(tries-1, 62); doubled>>min(tries-1, 62) == p.Wait { // else it has overflown
			most = min(most, doubled)
		}
		wait = time.Duration(rand.Uint64N(uint64(most) + 1))
	}
	return wait, p.Time == 0 || wait <= p.Time-time.Since(begin)
}

// pass lets time pass, without a place. It reports false if ctx ends before.
func pass(ctx context.Context, d time.Duration) (passed bool) {
	if d <= 0 {
		return ctx.Err() == nil
	}
	Blocking(ctx, func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			passed = true
		case <-ctx.Done():
		}
	})
	return passed
}

// retried returns task with its retries.
func retried[T any](r *Retrier, all bool, rate *RateLimit, task func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	return func(ctx context.Context) (value T, err error) {
		err = r.must(r.do(ctx, func(ctx context.Context) (err error) {
			value, err = task(ctx)
			return err
		}, all, rate))
		return value, err
	}
}

// retriedTask is retried for a task without a value.
func retriedTask(r *Retrier, all bool, rate *RateLimit, task func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return r.must(r.do(ctx, task, all, rate)) }
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

// retryRate is the rate at which the tries of a group's tasks are made.
func (g *Group) retryRate() *RateLimit {
	if r := g.options.rate; r != nil {
		return r
	}
	_, r := g.pool.core.reporter.retry()
	return r
}

// retry makes the tasks of a pool that return errors again, at that rate; nil for none.
func (r *reporter) retry() (*Retrier, *RateLimit) {
	if r.hooks == nil {
		return nil, nil
	}
	return r.hooks.retry, r.hooks.rate
}
