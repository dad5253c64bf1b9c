package weirhttp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// Limiter is a handler that runs another handler for a limited number of requests at once. [Limit] makes one.
// Any number of goroutines may call all methods at once.
type Limiter struct {
	limitOptions
	handler http.Handler
	refusal refusal

	// drained is done when Drain is called, which ends the waits for a place in the pool; nil without a pool.
	drained context.Context
	drain   context.CancelFunc

	// mu guards the fields below. While mu is unlocked, no waiting request may run: either all slots are
	// taken, or the key of each waiting request has as many running as PerKey allows. So a new request that
	// may run overtakes no request that may. To keep this, a goroutine that frees or adds a slot calls
	// advance, which hands free slots over, before it unlocks mu. A waiter that gives up locks mu, too. It is
	// then either still in the queue, which it leaves, or it has a slot, which it uses or passes on.
	mu       sync.Mutex
	limit    int
	taken    int               // slots
	unplaced int               // slots whose requests have no place in the pool yet
	atPool   fifo.List[asking] // requests that have a slot and wait for a place in the pool
	queue    queue
	draining bool
	counts   [verdicts]uint64
	served   uint64

	times times
}

// verdict is the decision about a request.
type verdict int

const (
	undecided verdict = iota
	granted           // it has a slot, and may run
	queueFull
	keyFull
	displaced
	tooLate
	gone
	closed
	verdicts int = iota
)

// Limit returns a handler that runs handler for at most n requests at once. Of the others as many wait as
// [Queue] allows, in order, each at most as long as [MaxWait]. The rest are refused: they are answered at
// once, with the status 503 (see [Status]) and the header Retry-After (see [RetryAfter]), and their body is
// not read. The header Cache-Control says no-store then, and Content-Length, ETag and Last-Modified, which a
// handler outside may have set, are removed.
//
// A request whose context is done while it waits is refused, too, though mostly no client is left to read the
// refusal. A slot is free again when the handler has returned, panicked, or ended its goroutine by
// [runtime.Goexit]; panics pass through unchanged. A handler that hijacks its connection holds the slot until
// it returns. If a handler leaves work behind when it returns, more than n requests are being worked on.
//
// The end of a request's handler synchronizes before the start of the next handler that has its slot.
func Limit(handler http.Handler, n int, opts ...Option) *Limiter {
	must(handler != nil, "handler must not be nil", "nil")
	mustLimit(n)
	o := newLimitOptions(n, opts)
	l := &Limiter{
		limitOptions: o,
		handler:      handler,
		refusal:      newRefusal(o.status, o.retryAfter),
		limit:        n,
		queue:        queue{size: o.queueSize, newestFirst: o.newestFirst, all: priorityQueue{links: ofAll}},
	}
	l.refusal.write = o.refuse
	if o.key != nil {
		l.queue.clients = clients{
			perKey:      o.perKey,
			perKeyQueue: o.perKeyQueue,
			hasKeys:     true,
			due:         dueClients{newestFirst: o.newestFirst},
		}
	}
	if o.pool != nil {
		l.drained, l.drain = context.WithCancel(context.Background())
		// Make the channel now: made on first use, it would belong to the synctest bubble of that use.
		l.drained.Done()
	}
	return l
}

func mustLimit(n int) { must(n >= 1, "limit must be at least 1", n) }

// ServeHTTP runs the handler for the request, at once or after a wait, or refuses the request.
// [Limit] says when.
func (l *Limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.exempt != nil && l.exempt(r) {
		l.handler.ServeHTTP(w, r)
		return
	}
	if l.pool != nil {
		l.serveOnPool(w, r)
		return
	}
	came := time.Now()
	c, v := l.admit(r, came)
	if v != granted {
		l.refusal.answer(w, r, v.reason())
		return
	}
	defer l.release(c, l.times.begins(came)) // also if the handler does not return
	l.handler.ServeHTTP(w, r)
}

// admit gets a slot for the request, and may wait for it. If it refuses the request, it counts the refusal.
func (l *Limiter) admit(r *http.Request, came time.Time) (*client, verdict) {
	priority, key := 0, ""
	if l.priority != nil {
		priority = l.priority(r)
	}
	if l.key != nil {
		key = l.key(r)
	}
	ended := r.Context().Err() != nil // asked without the lock: the context may be of a type of the program's own
	l.mu.Lock()
	c := l.queue.byKey.Get(key)
	if !l.draining && l.taken < l.limit && l.queue.mayRun(c) {
		c = l.queue.known(key)
		l.take(c)
		l.mu.Unlock()
		return c, granted
	}
	w, v := l.enqueue(c, key, priority, came, ended)
	l.mu.Unlock()
	if w == nil {
		return nil, v
	}
	return w.client, l.await(r.Context(), w)
}

// enqueue lets a request wait, or returns why it may not wait. ended says that its context has ended. The caller
// holds mu.
func (l *Limiter) enqueue(c *client, key string, priority int, came time.Time, ended bool) (*waiter, verdict) {
	victim, v := l.queue.room(c, priority)
	switch {
	case l.draining:
		v = closed
	case ended: // it must not displace a request whose client is still there
		v = gone
	}
	if v != undecided {
		l.counts[v]++
		return nil, v
	}
	w := &waiter{priority: priority, came: came, client: l.queue.known(key), ready: make(chan struct{})}
	l.queue.push(w)
	if victim != nil { // only after the push, or dismiss could forget the client that both share
		l.dismiss(victim, displaced)
	}
	return w, undecided
}

// await waits for the verdict on w, and returns it. The context may be of a type of the program's own: if a method of
// that panics or exits, the request leaves the queue, or passes its slot on.
func (l *Limiter) await(ctx context.Context, w *waiter) verdict {
	asked := false
	defer func() {
		if asked {
			return
		}
		if l.giveUp(w, gone); w.verdict == granted {
			l.passOn(w.client)
		}
	}()
	timer := time.NewTimer(l.maxWait)
	defer timer.Stop()
	select {
	case <-w.ready:
	case <-timer.C:
		l.giveUp(w, tooLate)
	case <-ctx.Done():
		l.giveUp(w, gone)
	}
	ended := w.verdict == granted && ctx.Err() != nil
	if asked = true; ended {
		l.passOn(w.client)
		return gone
	}
	return w.verdict
}

// giveUp removes w from the queue with the verdict v, unless w has a verdict already.
func (l *Limiter) giveUp(w *waiter, v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.verdict == undecided {
		l.dismiss(w, v)
	}
}

// dismiss removes w from the queue and refuses it. The caller holds mu.
func (l *Limiter) dismiss(w *waiter, v verdict) {
	l.queue.remove(w)
	l.queue.forget(w.client)
	l.counts[v]++
	w.decide(v)
}

func (w *waiter) decide(v verdict) {
	w.verdict = v
	close(w.ready)
}

// take takes a slot. The caller holds mu.
func (l *Limiter) take(c *client) {
	l.taken++
	if l.pool != nil {
		l.unplaced++
	}
	if c != nil {
		c.running++
		l.queue.update(c)
	}
}

// free gives a slot back, and hands it to the next waiter, if any. The caller holds mu.
func (l *Limiter) free(c *client) {
	l.taken--
	if c != nil {
		c.running--
		l.queue.update(c)
		l.queue.forget(c)
	}
	l.advance()
}

// advance hands free slots to waiters. The caller holds mu.
func (l *Limiter) advance() {
	for l.taken < l.limit {
		w := l.queue.next()
		if w == nil {
			return
		}
		l.queue.remove(w)
		l.take(w.client)
		w.decide(granted)
	}
}

// release ends a request that has run since begun.
func (l *Limiter) release(c *client, begun time.Time) {
	l.times.ends(begun)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.served++
	l.free(c)
}

// passOn gives back the slot of a request whose context was done when it got the slot.
func (l *Limiter) passOn(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pool != nil {
		l.unplaced--
	}
	l.counts[gone]++
	l.free(c)
}
