package weirnats

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// state says which goroutine has a task: that of the seat for which it was pulled, or none yet.
type state int

const (
	unclaimed state = iota // its seat waits for a place
	claimed                // its seat has it
	leaving                // it goes back, or is lost, before its seat has a place
)

// task is a message that Serve holds. What the mutex of the server does not guard is that of the seat.
type task struct {
	delivery backend.Delivery
	arrived  time.Time
	cancel   context.CancelCauseFunc // of its context
	try      Try
	record   *backend.Record // nil if the queue has none
	suspect  bool            // the try before left no error: the message may have ended its process
	alone    bool            // no other message that may have ended its process runs meanwhile

	line     *line // of a message with a key; else nil
	again    bool  // it is to be tried again here
	detached bool  // another goroutine acknowledges it, and drops it

	// Under the mutex of the server. Those of a message with a key come last.
	state    state
	sent     time.Time     // the lease began then, or later
	started  time.Time     // the try; zero before
	renewal  chan struct{} // closed when the renewal that is under way has ended; else nil
	settling bool          // its outcome goes to the server: no renewal begins
	lost     bool          // its lease ran out
	limited  bool          // it has run for too long
	drained  bool          // its context was cancelled as Serve ends
	looked   chan struct{} // closed when its record was looked for; nil if it was not
	due      time.Time     // it may not be tried before
	timed    bool          // a timer is set to that
	ending   bool          // the server may know that it is done
	gone     bool          // the server has confirmed that
	nth      int           // of those that are done; 0 for one with a key
}

// keep looks after the leases of what Serve holds, and at the pool, until kept is closed.
func (s *server[T]) keep(kept <-chan struct{}) {
	ticker := time.NewTicker(s.interval())
	defer ticker.Stop()
	var looked time.Time
	for {
		select {
		case now := <-ticker.C:
			s.renew()
			if now.Sub(looked) >= tick {
				looked = now
				s.look()
			}
		case <-kept:
			return
		}
	}
}

// interval is that between two looks at the leases.
func (s *server[T]) interval() time.Duration { return min(tick, s.queue.options.lease/12) }

// look ends Serve if the pool is closed: a task that waits for a message would keep it from ending. And it replaces a seat that the pool has dropped from its queue, as
// it was there for too long; if the seat is there after all, there are two for a while.
func (s *server[T]) look() {
	if journal := s.queue.journal; journal != nil {
		if err := journal.Settle(); err != nil {
			s.complain("note which messages are done", err)
		}
	}
	stats := s.pool.Stats()
	if stats.Closed {
		s.stop(weir.ErrClosed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dropped := stats.HandedBack != s.handedBack
	s.handedBack = stats.HandedBack
	s.turns.places = stats.Limit
	if dropped && s.waiting != nil && !s.entering {
		s.waiting = nil
		s.want()
	}
}

// renew begins the renewals that are due, and ends what is too late.
func (s *server[T]) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, o := time.Now(), s.queue.options
	for t := range s.held {
		switch {
		case t.lost:
		case !backend.Holds(t.sent, now.Add(s.interval()), o.lease): // at the next look it may be over
			s.lose(t)
		case t.settling || t.limited || t.state == leaving:
		case !t.started.IsZero() && now.Sub(t.started) >= o.runLimit:
			t.limited = true
			t.cancel(ErrRunLimit)
		case t.state == unclaimed && t.line == nil && now.Sub(t.arrived) >= o.lease:
			t.state = leaving
			go s.putBack(t)
		case t.renewal == nil && !backend.Holds(t.sent, now, o.lease/3):
			t.renewal = make(chan struct{})
			go s.extend(t, t.renewal, t.sent)
		}
	}
}

// lose ends a try whose lease is over. The mutex is held.
func (s *server[T]) lose(t *task) {
	t.lost = true
	t.cancel(ErrLost)
	if t.line != nil {
		s.loseTurn(t)
	}
	if t.state == unclaimed {
		t.state = leaving
		go s.drop(t)
	}
}

// extend renews a lease. Only if the answer is here before the lease would have ended is it certain that it had not ended on the server.
func (s *server[T]) extend(t *task, ended chan struct{}, before time.Time) {
	sent, lease := time.Now(), s.queue.options.lease
	ctx, cancel := context.WithTimeout(s.base, lease-time.Since(before))
	defer cancel()
	err := t.delivery.Extend(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && backend.Holds(t.sent, time.Now(), lease) {
		t.sent = sent
	}
	t.renewal = nil
	close(ended)
}

// settle ends the renewals of a task, as its outcome goes to the server: what arrives there after that would delay the next try. It returns a context that ends a
// little before the lease, and whether the lease holds until then.
func (s *server[T]) settle(t *task) (ctx context.Context, cancel context.CancelFunc, holds bool) {
	s.mu.Lock()
	t.settling = true
	for t.renewal != nil {
		ended := t.renewal
		s.mu.Unlock()
		<-ended
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	now, lease := time.Now(), s.queue.options.lease*9/10
	ctx, cancel = context.WithTimeout(s.base, lease-now.Sub(t.sent))
	return ctx, cancel, !t.lost && backend.Holds(t.sent, now, lease)
}
