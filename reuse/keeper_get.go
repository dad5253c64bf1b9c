package reuse

import (
	"context"
	"errors"
)

// Get leases an object, and waits for one until ctx is done. It returns
//
//   - the cause of ctx, if that is done first, or was before;
//   - the error of Open, if that failed when it ran for this call, or [weir.ErrGoexit] if it
//     ended its goroutine;
//   - [ErrClosed], if the keeper is closed, or becomes so meanwhile.
//
// A panic of Open or Check that runs for this call comes out of Get as a [*weir.Panic]. Who waits
// may get an object first that another has put back, or that was opened for another;
// then what was begun for him goes to the next, or becomes idle. An Open that
// fails after that is told to nobody: for each who still waits another one begins.
//
// Users who have a lease and wait for another can block each other forever: then ctx should
// have a deadline.
//
// What was done with the object before it was put back synchronizes before the return of
// Get. To get an idle object, and to wait for one, allocates nothing.
func (k *Keeper[T]) Get(ctx context.Context) (Lease[T], error) {
	k.made()
	demand(ctx != nil, "context must not be nil", "nil")
	if ctx.Err() != nil {
		k.mu.Lock()
		k.totals.cancelled++
		k.mu.Unlock()
		return Lease[T]{}, context.Cause(ctx)
	}
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return Lease[T]{}, ErrClosed
	}
	if o := k.warmest; o != nil && k.line.first == nil && k.fresh(o) {
		l := k.take(o)
		k.mu.Unlock()
		return l, nil
	}
	k.totals.waits++
	w := k.place(ctx)
	k.line.join(w)
	k.serve()
	k.mu.Unlock()
	return k.wait(w)
}

// TryGet is [Keeper.Get] that never waits: it returns [ErrNoneIdle] if no object is ready. Then
// it has one opened in the background, if the capacity allows, or the next idle one checked, unless that
// is under way for nobody else already: so it may succeed later. With a Check and a
// CheckAfter of 0 it never does.
func (k *Keeper[T]) TryGet() (Lease[T], error) {
	k.made()
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.warmest
	switch {
	case k.closed:
		return Lease[T]{}, ErrClosed
	case k.line.first == nil && o != nil && k.fresh(o):
		return k.take(o), nil
	case k.unclaimed > 0:
	case o != nil:
		k.inspect(o, nil)
	case k.total < k.config.Capacity:
		k.begin(nil)
	}
	return Lease[T]{}, ErrNoneIdle
}

// fresh reports whether an idle object needs no check.
func (k *Keeper[T]) fresh(o *object[T]) bool {
	return k.config.Check == nil || k.now()-o.proved < k.config.CheckAfter
}

// take leases an idle object.
func (k *Keeper[T]) take(o *object[T]) Lease[T] {
	k.rouse(o)
	l := o.lease()
	k.totals.gets++
	if k.ready() < k.config.MinIdle {
		k.refill()
	}
	return l
}

// place returns a place for the line.
func (k *Keeper[T]) place(ctx context.Context) *waiter[T] {
	w, _ := k.places.Get().(*waiter[T])
	if w == nil {
		w = &waiter[T]{ready: make(chan struct{}, 1)}
	}
	w.ctx = ctx
	return w
}

// wait waits for the answer to w.
func (k *Keeper[T]) wait(w *waiter[T]) (Lease[T], error) {
	began := k.now()
	select {
	case <-w.ready:
	case <-w.ctx.Done():
		if k.leave(w) {
			w.err = context.Cause(w.ctx)
		} else {
			<-w.ready // there is an answer: it counts
		}
	}
	k.waited.Add(int64(k.now() - began))
	l, err, panicked := w.lease, w.err, w.panicked
	*w = waiter[T]{ready: w.ready}
	k.places.Put(w)
	if panicked != nil {
		panic(panicked)
	}
	return l, err
}

// leave takes w out of the line, unless it has left with an answer.
func (k *Keeper[T]) leave(w *waiter[T]) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !w.waits {
		return false
	}
	k.abandon(w)
	k.line.leave(w)
	k.totals.cancelled++
	return true
}

// Use leases an object, calls f with it, and puts it back. It returns the error of f, or why there
// is no object, as [Keeper.Get] does. The object is discarded instead if f panics, ends its
// goroutine by [runtime.Goexit], or returns an error that [Broken] has marked; any other error
// says nothing about the object.
func (k *Keeper[T]) Use(ctx context.Context, f func(T) error) error {
	demand(f != nil, "function must not be nil", "nil")
	l, err := k.Get(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		if sound {
			l.Put()
		} else {
			l.Discard()
		}
	}()
	err = f(l.Value())
	_, isBroken := errors.AsType[*broken](err)
	sound = !isBroken
	return err
}
