package reuse

import (
	"cmp"
	"context"
	"errors"
)

// Get leases an object, and waits for one until ctx is done. It returns
//
//   - the cause of ctx, if ctx is done first, or was done before;
//   - the error of an Open that was begun for this call, or [weir.ErrGoexit] if that Open ended its
//     goroutine;
//   - [ErrClosed], if the keeper is closed, before or during the wait.
//
// If an Open or Check that was begun for this call panics, Get panics with a [*weir.Panic]. Users who each
// hold a lease and wait for another lease can block each other forever: then ctx should have a deadline.
//
// In the terminology of the Go memory model, a call that puts an object back synchronizes before the return
// of the Get that leases it next.
func (k *Keeper[T]) Get(ctx context.Context) (Lease[T], error) {
	k.mustBeMade()
	mustContext(ctx != nil)
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
	if o := k.alive(); o != nil && k.queue.length == 0 && k.fresh(o) {
		l := k.take(o)
		k.mu.Unlock()
		return l, nil
	}
	k.totals.waits++
	w := k.newWaiter(ctx)
	k.queue.join(w)
	k.serve()
	k.mu.Unlock()
	return k.wait(w)
}

// TryGet leases an object without waiting: where [Keeper.Get] would wait, TryGet returns [ErrNoneIdle]. In
// that case it starts to check an object in the background or, as far as the capacity allows, to open one, so
// that a later call may succeed. It does so for one object at a time. After Open has failed, TryGet opens no
// object before MinIdle would try again. With a Check and a CheckAfter of 0, TryGet never finds an object
// ready.
func (k *Keeper[T]) TryGet() (Lease[T], error) {
	k.mustBeMade()
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.alive()
	switch {
	case k.closed:
		return Lease[T]{}, ErrClosed
	case k.queue.length == 0 && o != nil && k.fresh(o):
		return k.take(o), nil
	case k.unclaimed > 0:
	case o != nil:
		k.inspect(o, nil)
		k.serve()
	case k.total < k.config.Capacity && !k.resting():
		k.open(nil)
	}
	return Lease[T]{}, ErrNoneIdle
}

// fresh reports whether an idle object needs no check. An object that was put back after now was put back on another
// clock, in a test bubble or outside.
func (k *Keeper[T]) fresh(o *object[T]) bool {
	if k.config.Check == nil {
		return true
	}
	unused := k.now() - o.proved
	return unused >= 0 && unused < k.config.CheckAfter
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

// newWaiter returns a waiter that is not yet in the queue.
func (k *Keeper[T]) newWaiter(ctx context.Context) *waiter[T] {
	w, _ := k.waiters.Get().(*waiter[T])
	if w == nil || w.idleness != k.idleness {
		w = &waiter[T]{ready: make(chan struct{}, 1), idleness: k.idleness}
	}
	w.ctx = ctx
	return w
}

// wait waits for the answer to w.
func (k *Keeper[T]) wait(w *waiter[T]) (Lease[T], error) {
	began := k.now()
	done := k.doneOf(w)
	select {
	case <-w.ready:
	case <-done:
		if k.withdraw(w) {
			// Done of a custom context may be closed before its Err is set.
			w.err = cmp.Or(context.Cause(w.ctx), context.Canceled)
		} else {
			<-w.ready // there is an answer, and it counts
		}
	}
	k.waited.Add(int64(k.now() - began))
	l, err, panicked := w.lease, w.err, w.panicked
	*w = waiter[T]{ready: w.ready, idleness: w.idleness}
	k.waiters.Put(w)
	if panicked != nil {
		panic(panicked)
	}
	return l, err
}

// doneOf asks the context of w for its Done. That may be of a type of the program's own: if it panics or exits, w
// leaves the queue, or gives its object back.
func (k *Keeper[T]) doneOf(w *waiter[T]) (done <-chan struct{}) {
	asked := false
	defer func() {
		if asked || k.withdraw(w) {
			return
		}
		<-w.ready
		switch {
		case w.panicked != nil:
			k.report(w.panicked)
		case w.err == nil:
			w.lease.Put()
		}
	}()
	done = w.ctx.Done()
	asked = true
	return done
}

// withdraw removes w from the queue. It returns false if w has left the queue before, with an answer.
func (k *Keeper[T]) withdraw(w *waiter[T]) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !w.waits() {
		return false
	}
	k.abandon(w)
	k.queue.remove(w)
	k.totals.cancelled++
	return true
}

// Use leases an object, calls f with it, and puts it back. It returns the error of f, or the error of
// [Keeper.Get] if it gets no object. Use discards the object instead of putting it back if f panics, ends its
// goroutine by [runtime.Goexit], or returns an error that [Broken] has marked. Any other error says nothing
// about the object.
func (k *Keeper[T]) Use(ctx context.Context, f func(T) error) error {
	mustFunction(f != nil)
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
