package weirhttp

// Stats has the counts of a [Limiter] at one moment.
type Stats struct {
	Limit   int // the most requests that run at once
	Running int // requests whose handler runs
	Waiting int // requests that wait; with On also those that wait for their place in the pool
	Keys    int // keys of the requests that run or wait; 0 without PerKey

	Served uint64 // requests whose handler has returned, panicked or called runtime.Goexit

	// Refused requests, each counted once, by the reason.
	QueueFull uint64 // the queue had no room; or the pool was full
	KeyFull   uint64 // as many of the same key waited as PerKeyQueue allows
	Displaced uint64 // a newer or more important request got its room in the queue
	TooLate   uint64 // it had waited for MaxWait, or for the pool for too long
	Gone      uint64 // its context was done while it waited
	Closed    uint64 // Drain had been called, or the pool was closed
}

// Stats returns the counts of the Limiter, all of the same moment. It holds the lock that requests take, for
// a short time.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{
		Limit:     l.limit,
		Running:   l.taken - l.unplaced,
		Waiting:   l.queue.waiting + l.unplaced,
		Keys:      l.queue.byKey.Len(),
		Served:    l.served,
		QueueFull: l.counts[queueFull],
		KeyFull:   l.counts[keyFull],
		Displaced: l.counts[displaced],
		TooLate:   l.counts[tooLate],
		Gone:      l.counts[gone],
		Closed:    l.counts[closed],
	}
}

// Resize sets the limit to n. It does not block. A higher limit lets waiting requests run at once. A lower
// limit interrupts no request; once Resize has returned, no request gets a slot while n or more are taken.
// Resize does not change the length of the queue.
func (l *Limiter) Resize(n int) {
	mustLimit(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = n
	l.advance()
}

// Drain refuses all waiting requests, and from now on all new ones, with "Connection: close", so that their
// clients turn to another server. It does not block: [http.Server.Shutdown] waits for the running requests.
// [Exempt] requests still run. Drain may be called more than once, and cannot be undone.
//
// Without Drain, Shutdown still serves the waiting requests, which takes up to [MaxWait] longer. If that is
// too long, have Shutdown drain first:
//
//	server.RegisterOnShutdown(limiter.Drain)
func (l *Limiter) Drain() {
	l.mu.Lock()
	l.draining = true
	for w := l.queue.all.first(false); w != nil; w = l.queue.all.first(false) {
		l.dismiss(w, closed)
	}
	l.mu.Unlock()
	if l.drain != nil {
		l.drain()
	}
}
