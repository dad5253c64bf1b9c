package reuse

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// The functions in this file run each call of a function of the user's on a goroutine of its own.

// attempt calls work and then, however work ends, calls then under the lock. It passes to then the error of
// work, which is [weir.ErrGoexit] if work has ended its goroutine, or its panic. Unless then has answered a
// user, attempt reports the panic to OnPanic. It does so last, so that no user that needs the object waits
// for OnPanic.
func (k *Keeper[T]) attempt(work func() error, then func(now time.Duration, err error, panicked *weir.Panic) (answered bool)) {
	returned := false
	var err error
	defer func() {
		var panicked *weir.Panic
		if !returned {
			if value := recover(); value != nil {
				panicked = k.caught(value)
			} else {
				err = weir.ErrGoexit
			}
		}
		now := k.now()
		k.mu.Lock()
		if panicked != nil {
			k.reports++ // Close waits for OnPanic
		}
		answered := then(now, err, panicked)
		k.serve()
		k.mu.Unlock()
		if panicked != nil {
			if !answered {
				k.report(panicked)
			}
			k.mu.Lock()
			k.reports--
			k.finish()
			k.mu.Unlock()
		}
	}()
	err = work()
	returned = true
}

// caught returns the Panic for a recovered value. Only a deferred function may call it.
func (k *Keeper[T]) caught(value any) *weir.Panic {
	return &weir.Panic{Value: value, Stack: inside.PanicStack(), Pool: k.config.Name}
}

// errand calls f with a context that has the values of another context. Close and Reset cancel it while f
// runs.
func (o *object[T]) errand(values context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(values))
	defer o.era.watch(cancel)()
	return f(ctx)
}

// open opens the object, for its waiter or for none.
func (o *object[T]) open(values context.Context) {
	k := o.keeper
	var value T
	k.attempt(func() error {
		return o.errand(values, func(ctx context.Context) (err error) {
			value, err = k.config.Open(ctx)
			return err
		})
	}, func(now time.Duration, err error, panicked *weir.Panic) (answered bool) {
		if err != nil || panicked != nil {
			return k.failed(o, err, panicked, now)
		}
		k.totals.opened++
		if o.era == k.era {
			k.failures, k.retry = 0, 0
		}
		o.opened(value, now)
		k.reuse(o, now)
		return true
	})
}

// failed handles an object that could not be opened. It reports whether a user gets the error or panic.
func (k *Keeper[T]) failed(o *object[T], err error, panicked *weir.Panic, now time.Duration) (answered bool) {
	k.totals.failed++
	w := o.begunFor()
	if o.waiter == nil && o.era == k.era {
		k.postpone(now)
	}
	o.disown()
	if w != nil {
		k.refuse(w, err, panicked)
	}
	k.forget(o)
	return w != nil
}

// begunFor returns the waiter that gets the failure of the object, or nil if there is none.
func (o *object[T]) begunFor() *waiter[T] {
	if o.adopted {
		return nil
	}
	return o.waiter
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Minute
)

// postpone delays the next Open without a waiter, after one has failed.
func (k *Keeper[T]) postpone(now time.Duration) {
	if k.failures == 0 || !k.restsAt(now) { // otherwise it is one of several that began together
		k.retry = after(now, min(firstRetry<<min(k.failures, 16), lastRetry))
		k.failures++
	}
}

// check checks an idle object, for its waiter or for none.
func (o *object[T]) check(values context.Context) {
	k := o.keeper
	k.attempt(func() error {
		return o.errand(values, func(ctx context.Context) error { return k.config.Check(ctx, o.value) })
	}, func(now time.Duration, err error, panicked *weir.Panic) (answered bool) {
		if panicked == nil {
			k.proved(o, now, err)
			return true
		}
		w := o.begunFor()
		k.condemn(o)
		if w != nil {
			k.refuse(w, nil, panicked)
		}
		return w != nil
	})
}

// beat runs the heartbeat of an idle object.
func (o *object[T]) beat() {
	k := o.keeper
	k.attempt(func() error {
		return o.errand(context.Background(), func(ctx context.Context) error { return k.config.Heartbeat(ctx, o.value) })
	}, func(now time.Duration, err error, panicked *weir.Panic) (answered bool) {
		if o.era == k.era {
			k.beats--
		}
		if panicked != nil {
			k.condemn(o)
			return false
		}
		k.proved(o, now, err)
		return true
	})
}

// proved handles an object whose check or heartbeat has returned.
func (k *Keeper[T]) proved(o *object[T], now time.Duration, err error) {
	if err != nil {
		k.condemn(o)
		return
	}
	o.proved = now
	k.reuse(o, now)
}

// condemn starts to close an object whose check or heartbeat has failed, perhaps only because the keeper
// cancelled it.
func (k *Keeper[T]) condemn(o *object[T]) {
	if !o.outdated() {
		k.totals.unhealthy++
	}
	o.disown()
	k.retire(o)
}

// close closes the object.
func (o *object[T]) close() {
	k := o.keeper
	k.attempt(func() error {
		k.config.Close(o.value)
		return nil
	}, func(time.Duration, error, *weir.Panic) (answered bool) {
		k.totals.closed++
		k.forget(o)
		return false
	})
}
