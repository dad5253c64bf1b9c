package weirhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/inside"
)

// serveOnPool is ServeHTTP for a Limiter with a pool: the request gets a slot first, then its place
// in the pool. One MaxWait bounds both waits together.
func (l *Limiter) serveOnPool(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), l.maxWait)
	defer cancel()
	came := time.Now()
	c, v := l.admit(r, came)
	if v == granted {
		v = l.runOnPool(ctx, cancel, c, came, w, r)
	}
	if v != granted {
		l.refusal.answer(w, r, v.reason())
	}
}

// runOnPool runs the handler of a request that has a slot, as soon as the pool has a place for the request.
func (l *Limiter) runOnPool(
	ctx context.Context, cancel func(), c *client, came time.Time, w http.ResponseWriter, r *http.Request,
) (v verdict) {
	defer context.AfterFunc(l.drained, cancel)()
	a := l.asks(came)
	var begun time.Time
	defer func() { // also if the handler does not return
		if !begun.IsZero() {
			l.release(c, begun)
		} else {
			l.withdraw(c, a, v)
		}
	}()
	err := l.pool.Do(ctx, func(task context.Context) error {
		begun = l.times.begins(came)
		l.placed(a)
		served := handIn(placed{r.Context(), task}, r)
		defer handBack(r, served)
		l.handler.ServeHTTP(w, served)
		return nil
	})
	switch {
	case !begun.IsZero():
		return granted
	case errors.Is(err, weir.ErrFull):
		return queueFull
	case errors.Is(err, weir.ErrClosed), l.drained.Err() != nil:
		return closed
	case r.Context().Err() != nil:
		return gone
	default:
		return tooLate
	}
}

// asking is a request that has a slot, and waits for its place in the pool.
type asking struct {
	came time.Time
	link fifo.Link[asking] // in Limiter.atPool
}

// asks records that a request begins to wait for its place in the pool.
func (l *Limiter) asks(came time.Time) *asking {
	a := &asking{came: came}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.atPool.Append(&a.link, a)
	return a
}

// placed records that a request has got its place in the pool.
func (l *Limiter) placed(a *asking) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unplaced--
	l.atPool.Remove(&a.link)
}

// withdraw gives back the slot of a request that has got no place in the pool.
func (l *Limiter) withdraw(c *client, a *asking, v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unplaced--
	l.atPool.Remove(&a.link)
	l.counts[v]++
	l.free(c)
}

// placed is the context of a request that has its place in the pool. It ends only with the request. For the
// pool it is the context of a task, so that groups made from it may wait there.
type placed struct {
	context.Context                 // the request's
	task            context.Context // the task's, which MaxWait ends
}

// Value implements [context.Context].
func (c placed) Value(key any) any {
	if _, ok := key.(inside.TaskKey); ok {
		return c.task.Value(key)
	}
	return c.Context.Value(key)
}
