package reuse

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// What follows runs on goroutines of its own, one for each call of one of the user's functions.

// attempt calls work, and then then, however work has ended: with its error, which is
// [weir.ErrGoexit] if it has ended its goroutine, or with its panic.
func (k *Keeper[T]) attempt(work func() error, then func(error, *weir.Panic)) {
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
		then(err, panicked)
	}()
	err = work()
	returned = true
}

// caught makes a Panic of what recover returned. A deferred function must call it.
func (k *Keeper[T]) caught(value any) *weir.Panic {
	return &weir.Panic{Value: value, Stack: inside.PanicStack(), Pool: k.config.Name}
}

// errand returns a context with the values of another, which Close cancels unless release has
// been called before.
func (k *Keeper[T]) errand(values context.Context) (ctx context.Context, release func() bool) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(values))
	return ctx, context.AfterFunc(k.base, func() { cancel(ErrClosed) })
}

// open opens the object, for the one who waits for it or for nobody.
func (o *object[T]) open(values context.Context) {
	k := o.keeper
	ctx, release := k.errand(values)
	var value T
	k.attempt(func() (err error) {
		value, err = k.config.Open(ctx)
		return err
	}, func(err error, panicked *weir.Panic) {
		release()
		now := k.now()
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil || panicked != nil {
			k.failed(o, err, panicked, now)
		} else {
			k.totals.opened++
			k.failures, k.retry = 0, 0
			o.opened(value, now)
			k.settle(o, now)
		}
		k.serve()
	})
}

// failed deals with an object that could not be opened.
func (k *Keeper[T]) failed(o *object[T], err error, panicked *weir.Panic, now time.Duration) {
	k.totals.failed++
	w := k.hears(o, panicked)
	if o.waiter == nil {
		k.postpone(now)
	}
	o.disown()
	if w != nil {
		k.refuse(w, err, panicked)
	}
	k.forget(o)
}

// hears returns who is told of the failure of o. If nobody is, it reports a panic, and unlocks the
// keeper meanwhile.
func (k *Keeper[T]) hears(o *object[T], panicked *weir.Panic) *waiter[T] {
	if o.waiter != nil && !o.adopted {
		return o.waiter
	}
	if panicked != nil {
		k.mu.Unlock()
		k.report(panicked)
		k.mu.Lock()
	}
	return nil // also if it has been adopted by another meanwhile
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Minute
)

// postpone puts the next Open for nobody off, since one has failed.
func (k *Keeper[T]) postpone(now time.Duration) {
	if now >= k.retry { // else it is one of several that were begun at once
		k.retry = after(now, min(firstRetry<<min(k.failures, 16), lastRetry))
		k.failures++
	}
}

// check checks an idle object, for the one who waits for it or for nobody.
func (o *object[T]) check(values context.Context) {
	k := o.keeper
	ctx, release := k.errand(values)
	k.attempt(func() error {
		return k.config.Check(ctx, o.value)
	}, func(err error, panicked *weir.Panic) {
		release()
		now := k.now()
		k.mu.Lock()
		defer k.mu.Unlock()
		switch {
		case panicked != nil:
			w := k.hears(o, panicked)
			k.condemn(o)
			if w != nil {
				k.refuse(w, nil, panicked)
			}
		case err != nil:
			k.condemn(o)
		default:
			o.proved = now
			k.settle(o, now)
		}
		k.serve()
	})
}

// beat runs the heartbeat of an idle object.
func (o *object[T]) beat() {
	k := o.keeper
	ctx, release := k.errand(k.base)
	k.attempt(func() error {
		return k.config.Heartbeat(ctx, o.value)
	}, func(err error, panicked *weir.Panic) {
		release()
		if panicked != nil {
			k.report(panicked)
		}
		now := k.now()
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil || panicked != nil {
			k.condemn(o)
		} else {
			o.proved = now
			k.settle(o, now)
		}
		k.serve()
	})
}

// condemn has an object closed that has failed its check or heartbeat.
func (k *Keeper[T]) condemn(o *object[T]) {
	k.totals.unhealthy++
	o.disown()
	k.retire(o)
}

// close closes the object.
func (o *object[T]) close() {
	k := o.keeper
	k.attempt(func() error {
		k.config.Close(o.value)
		return nil
	}, func(_ error, panicked *weir.Panic) {
		if panicked != nil {
			k.report(panicked)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.totals.closed++
		k.forget(o)
		k.serve()
	})
}
