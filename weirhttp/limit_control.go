package weirhttp

// Stats are the counts of a [Limiter] at one moment.
type Stats struct {
	Limit   int // the most requests that run at once
	Running int // requests whose handler runs
	Waiting int // requests that wait; with On also those that wait for their place in the pool
	Keys    int // keys of the requests that run or wait; 0 without PerKey

	Served uint64 // requests whose handler has returned, panicked or called runtime.Goexit

	// Requests that were refused, each counted once.
	QueueFull uint64 // the queue had no room; or the pool was full
	KeyFull   uint64 // as many of the same key waited as PerKeyQueue allows
	Displaced uint64 // another took its place in the queue
	TooLate   uint64 // it had waited for MaxWait
	Gone      uint64 // its context was done while it waited
	Closed    uint64 // Drain had been called, or the pool was closed
}

// Stats returns counts of what the Limiter has done and is doing, at one moment. It takes the lock
// that requests take, for a short time.
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

// Resize sets the limit. It does not block. A higher limit lets requests that wait run at
// once; a lower one interrupts none, and when Resize has returned none gets a slot while n or
// more are taken. The queue stays as long as it was.
func (l *Limiter) Resize(n int) {
	mustLimit(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = n
	l.advance()
}

// Drain refuses all requests that wait, and from now on all that come, with "Connection:
// close", so that their clients turn to another server. It does not block: [http.Server.Shutdown]
// waits for the requests that run. [Exempt] requests still run. Drain may be called more than
// once, and cannot be undone.
//
// Without it Shutdown still serves the requests that wait, which takes up to [MaxWait] longer. If
// that is too long, have Shutdown drain first:
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
