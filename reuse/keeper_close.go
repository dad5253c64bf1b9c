package reuse

import (
	"cmp"
	"context"
)

// Close closes all objects, the idle ones at once and the leased ones when their leases are given up, and
// returns when all objects are closed. Users who wait, and users who come later, get [ErrClosed]. Close
// cancels the contexts of running calls of Open, Check and Heartbeat. Several goroutines may call Close, more
// than once; each call returns when all objects are closed. The holder of a lease must not call Close, nor
// may the functions of the keeper: they would wait for themselves.
//
// The return of each call of the Close function synchronizes before the return of Close.
func (k *Keeper[T]) Close() {
	k.shut()
	<-k.done
}

// Shutdown is [Keeper.Close], but waits at most until ctx is done; then it returns the cause of ctx. The
// keeper stays closed, and closes its objects as they come back. Another Close or Shutdown waits for that.
func (k *Keeper[T]) Shutdown(ctx context.Context) error {
	mustContext(ctx != nil)
	k.shut()
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-k.done: // both channels are ready: the keeper closed in time
		return nil
	default:
		// Done of a custom context may be closed before its Err is set.
		return cmp.Or(context.Cause(ctx), context.Canceled)
	}
}

func (k *Keeper[T]) shut() {
	k.mustBeMade()
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return
	}
	k.closed = true
	k.done = make(chan struct{}) // of the test bubble of this call, if there is one
	for w := k.queue.first(); w != nil; w = k.queue.first() {
		k.abandon(w)
		k.refuse(w, ErrClosed, nil)
	}
	last := k.era
	k.finish()
	k.clear()
	k.unwind()
	k.mu.Unlock()
	last.end(ErrClosed)
}

// clear starts to close all idle objects.
func (k *Keeper[T]) clear() {
	for o := k.coldest(); o != nil; o = k.coldest() {
		k.rouse(o)
		k.retire(o)
	}
}

// Reset closes all objects: the idle ones at once, the leased ones when they are put back. It cancels the
// contexts of running calls of Open, Check and Heartbeat, and closes their objects when they have returned,
// whatever the result. The keeper leases none of these objects again. It opens others for waiting users, as
// far as the capacity allows, and no user gets an error of a call that began before. Reset does not block,
// and the keeper stays open. Call it when all objects have gone bad together, as after a restart of the
// server. On a closed keeper it does nothing.
func (k *Keeper[T]) Reset() {
	k.mustBeMade()
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return
	}
	for l := k.queue.all.Last(); l != nil; l = k.queue.all.Before(l) {
		if o := l.Of().object; o != nil {
			o.disown()
		}
	}
	for o := k.spare.First().Of(); o != nil; o = k.spare.First().Of() {
		o.disown()
	}
	last := k.era
	k.era, k.beats = new(era), 0
	k.failures, k.retry = 0, 0
	k.clear()
	k.serve()
	k.mu.Unlock()
	last.end(errReset)
}
