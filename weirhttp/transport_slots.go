package weirhttp

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// slots are those of all hosts of a [Transport].
type slots struct {
	mu    sync.Mutex
	lanes map[host]*lane // of hosts with a taken slot, and of no others
}

// lane is for the requests to one host. None waits in it while a slot is free: whoever frees one
// hands it over.
type lane struct {
	taken int
	turns list.List // of *turn, the oldest first
}

// turn is that of one request that waits.
type turn struct {
	come    chan struct{} // closed when granted is set
	granted bool          // the waiter has got a slot
}

// takeSlot returns a slot of the host, as soon as it is the caller's turn.
func (t *Transport) takeSlot(ctx context.Context, h host) (*slot, error) {
	s := &t.slots
	s.mu.Lock()
	l := s.lanes[h]
	if l == nil {
		l = new(lane)
		if s.lanes == nil {
			s.lanes = map[host]*lane{}
		}
		s.lanes[h] = l
	}
	if l.taken < t.PerHost {
		l.taken++
		s.mu.Unlock()
		return &slot{slots: s, host: h}, nil
	}
	if n := l.turns.Len(); t.Queue != 0 && n >= t.Queue {
		s.mu.Unlock()
		return nil, fmt.Errorf("%w: %d wait for %v", ErrOverloaded, n, h)
	}
	mine := &turn{come: make(chan struct{})}
	place := l.turns.PushBack(mine)
	s.mu.Unlock()

	if err := mine.wait(ctx, h, t.MaxWait); err != nil {
		s.leave(l, h, place)
		return nil, err
	}
	return &slot{slots: s, host: h}, nil
}

// wait returns nil when the turn has come, else why to wait no longer.
func (t *turn) wait(ctx context.Context, h host, atMost time.Duration) error {
	var over <-chan time.Time
	if atMost > 0 {
		timer := time.NewTimer(atMost)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
		return &notSent{h, context.Cause(ctx)}
	case <-over:
		return fmt.Errorf("%w: waited %v for %v", ErrOverloaded, atMost, h)
	}
}

// notSent is why a request has not left the queue. Without it, who has a deadline could not tell
// whether the request has reached the server.
type notSent struct {
	host  host
	cause error
}

func (e *notSent) Error() string {
	return fmt.Sprintf("weirhttp: not sent to %v, whose turn had not come: %v", e.host, e.cause)
}

func (e *notSent) Unwrap() error { return e.cause }

// Timeout is what [net/url.Error] asks.
func (e *notSent) Timeout() bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.cause)
	return ok && timeout.Timeout()
}

// leave takes a turn out of its lane. If it has come meanwhile, its slot is passed on.
func (s *slots) leave(l *lane, h host, place *list.Element) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place.Value.(*turn).granted {
		s.pass(l, h)
		return
	}
	l.turns.Remove(place)
}

// pass hands a slot to who has waited for longest. The mutex is held.
func (s *slots) pass(l *lane, h host) {
	if first := l.turns.Front(); first != nil {
		next := l.turns.Remove(first).(*turn)
		next.granted = true
		close(next.come)
		return
	}
	l.taken--
	if l.taken == 0 {
		delete(s.lanes, h)
	}
}

// slot is what a request under way holds.
type slot struct {
	slots    *slots
	host     host
	released atomic.Bool
}

// release gives the slot back. Further calls do nothing.
func (s *slot) release() {
	if s.released.Swap(true) {
		return
	}
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	s.slots.pass(s.slots.lanes[s.host], s.host)
}
