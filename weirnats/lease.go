package weirnats

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// state says which goroutine has a task: the goroutine of the puller for which it was pulled, or none yet.
type state int

const (
	unclaimed state = iota // its puller waits for a place
	claimed                // its puller has it
	leaving                // the task goes back, or is lost, before its puller has a place
)

// task is a message that Serve holds. The puller owns the fields that server.mu does not guard.
type task struct {
	delivery backend.Delivery
	arrived  time.Time
	cancel   context.CancelCauseFunc // cancels its context
	try      Try
	record   *backend.Record // nil if the queue has none
	suspect  bool            // the try before left no error: the message may have ended its process
	alone    bool            // no other message that may have ended its process runs meanwhile

	line     *line // the line of a message with a key; otherwise nil
	again    bool  // the message must be tried again here
	detached bool  // another goroutine acknowledges the message, and drops the task

	// Guarded by server.mu. The fields for a message with a key come last.
	state    state
	sent     time.Time     // the lease began at this time or later
	started  time.Time     // when the try began; zero before
	renewal  chan struct{} // closed when the renewal under way has ended; nil if there is none
	settling bool          // the outcome goes to the server: no renewal begins
	lost     bool          // its lease ran out
	limited  bool          // the try has run for too long
	drained  bool          // its context was cancelled because Serve ends
	behind   bool          // when it came, an earlier message of its key was not done: no try has begun before
	looked   chan struct{} // closed when the look-up of its record has ended; nil if there was none
	due      time.Time     // no try may begin before
	timer    *time.Timer   // set to due; nil if none is
	ending   bool          // the server may know that the message is done
	gone     bool          // the server has confirmed that the message is done
	nth      int           // its number among the done messages; 0 for a message with a key
}

// keep looks after the leases of what Serve holds, and at the pool, until kept is closed.
func (s *server) keep(kept <-chan struct{}) {
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

// interval returns the time between two looks at the leases.
func (s *server) interval() time.Duration { return min(tick, s.queue.options.lease/12) }

// look ends Serve if the pool is closed: a task that waits for a message would keep the pool from ending.
// look also replaces a waiting puller that the pool may have dropped because it was queued for too long. If
// that puller is there after all, there are two for a while.
func (s *server) look() {
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

// renew begins the renewals that are due, and ends the tries whose leases are over or that have run for too
// long.
func (s *server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, o := time.Now(), s.queue.options
	for t := range s.held {
		switch {
		case t.lost:
		case !backend.Holds(t.sent, now.Add(s.interval()), o.lease): // the lease may be over at the next look
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
func (s *server) lose(t *task) {
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

// extend renews a lease. Only if the answer arrives before the old lease would have ended is it certain that
// the lease had not ended on the server.
func (s *server) extend(t *task, ended chan struct{}, before time.Time) {
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

// settle ends the renewals of a task because its outcome goes to the server: a renewal that arrives after the
// outcome would delay the next try. settle returns a context that ends a little before the lease, and whether
// the lease holds until then.
func (s *server) settle(t *task) (ctx context.Context, cancel context.CancelFunc, holds bool) {
	s.mu.Lock()
	t.settling = true
	for t.renewal != nil {
		ended := t.renewal
		s.mu.Unlock()
		<-ended
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	now, lease := time.Now(), s.queue.options.lease/10*9
	ctx, cancel = s.within(lease - now.Sub(t.sent))
	return ctx, cancel, !t.lost && backend.Holds(t.sent, now, lease)
}
