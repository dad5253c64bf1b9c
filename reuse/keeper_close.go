package reuse

import (
	"cmp"
	"context"
)

// Close closes all objects, the idle ones at once and the leased ones when their leases are given
// up, and returns when that is done. Users who wait, and users who come later, get [ErrClosed].
// Close cancels the contexts of Open, Check and Heartbeat that still run. Several goroutines may
// call Close, more than once; each call returns when all is done. The holder of a lease must not
// call it, nor may the functions of the keeper: they would wait for themselves.
//
// The return of each call of the Close function synchronizes before the return of Close.
func (k *Keeper[T]) Close() {
	k.shut()
	<-k.done
}

// Shutdown is [Keeper.Close], but waits only until ctx is done; then it returns the cause of ctx. The
// keeper stays closed, closes its objects as they come back, and another Close or Shutdown waits
// for that.
func (k *Keeper[T]) Shutdown(ctx context.Context) error {
	mustContext(ctx != nil)
	k.shut()
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-k.done: // both are done: the keeper closed in time
		return nil
	default:
		return cmp.Or(context.Cause(ctx), context.Canceled) // its Done may be closed before it says so
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

// clear has all idle objects closed.
func (k *Keeper[T]) clear() {
	for o := k.coldest(); o != nil; o = k.coldest() {
		k.rouse(o)
		k.retire(o)
	}
}

// Reset closes all objects: the idle ones at once, the leased ones when they are put back. It cancels
// the contexts of Open, Check and Heartbeat that still run, and closes their objects when they have
// returned, with whatever result. The keeper leases none of them again: it opens others for waiting
// users, as far as the capacity allows, and no user learns of what was begun before. Reset does not
// block, and the keeper stays open. Call it when all objects have gone bad together, as after a
// restart of the server. On a closed keeper it does nothing.
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
