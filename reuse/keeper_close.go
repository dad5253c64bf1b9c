package reuse

import "context"

// Close refuses all further users with [ErrClosed], those who wait too, closes all objects, each when its
// lease is given up at the latest, and returns when that is done. The contexts of Open, Check and
// Heartbeat that still run are cancelled. Close may be called more than once and by
// several goroutines; each call returns when all is done. Who has a lease must not call it, nor
// may any of the keeper's functions: they would wait for themselves.
//
// The return of each call of the Close function synchronizes before the return of Close.
func (k *Keeper[T]) Close() {
	k.shut()
	<-k.done
}

// Shutdown is [Keeper.Close] until ctx is done; then it returns the cause. What is still to be closed is
// closed nevertheless, and a further Close or Shutdown waits for that.
func (k *Keeper[T]) Shutdown(ctx context.Context) error {
	demand(ctx != nil, "context must not be nil", "nil")
	k.shut()
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-k.done: // both: it has been in time
		return nil
	default:
		return context.Cause(ctx)
	}
}

func (k *Keeper[T]) shut() {
	k.made()
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return
	}
	k.closed = true
	for w := k.line.first; w != nil; w = k.line.first {
		k.abandon(w)
		k.refuse(w, ErrClosed, nil)
	}
	k.finish()
	k.clear()
	k.mu.Unlock()
	k.cancel(ErrClosed) // runs what others have hung on the context: not under the lock
}

// clear has all idle objects closed.
func (k *Keeper[T]) clear() {
	for o := k.coldest; o != nil; o = k.coldest {
		k.rouse(o)
		k.retire(o)
	}
}

// Reset has all objects closed that there are: the idle ones at once, the leased ones when they
// are given up, and those that are being opened when they are open. None of them is leased
// again. It does not block, and the keeper stays open. It is meant for when all objects have
// gone bad together, as after a restart of the server. On a closed keeper it does nothing.
func (k *Keeper[T]) Reset() {
	k.made()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.era++
	k.clear()
	k.serve()
}
