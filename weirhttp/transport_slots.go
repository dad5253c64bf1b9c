package weirhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/keys"
	"github.com/64ed045f/weir/internal/limit"
)

// slots holds the slots of all hosts of a [Transport].
type slots struct {
	mu    sync.Mutex
	hosts keys.Map[host, *hostSlots] // only hosts with a taken slot
}

// hostSlots holds the slots of one host.
type hostSlots struct {
	limit.Limit[turn]
	rated   fifo.List[turn] // requests that have a slot, and wait for a token of the host's rate
	waiting int             // the length of rated
}

// turn is what one request waits for: its slot, or its token of the host's rate.
type turn struct {
	came  time.Time
	ready chan struct{} // closed when the request has got it
	link  fifo.Link[turn]
}

// takeSlot returns a slot of the host. It blocks until it is the request's turn.
func (t *Transport) takeSlot(r *http.Request, h host, came time.Time) (*slot, error) {
	s := &t.slots
	s.mu.Lock()
	l := s.hosts.Get(h)
	if l == nil {
		l = new(hostSlots)
		l.Init(t.PerHost)
		s.hosts.Set(h, l)
	}
	if l.TryAcquire() {
		s.mu.Unlock()
		return &slot{of: t, host: h}, nil
	}
	if err := t.crowded(h, l); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	mine := &limit.Waiter[turn]{Value: turn{came: came, ready: make(chan struct{})}}
	l.Join(mine)
	s.mu.Unlock()

	got := false
	defer func() { // in any case: the context may be of a type of the program's own, whose methods panic
		if !got {
			s.withdraw(h, mine)
		}
	}()
	if err := mine.Value.wait(r, h, t.MaxWait); err != nil {
		return nil, err
	}
	got = true
	return &slot{of: t, host: h, waited: true}, nil
}

// crowded returns an error if as many requests wait for a host as Queue allows. The caller holds mu.
func (t *Transport) crowded(h host, l *hostSlots) error {
	if n := l.Waiting() + l.waiting; t.Queue != 0 && n >= t.Queue {
		return fmt.Errorf("%w: %d wait for %v", ErrOverloaded, n, h)
	}
	return nil
}

// wait returns nil when the turn has come, or why the request stops waiting.
func (t *turn) wait(r *http.Request, h host, atMost time.Duration) error {
	var over <-chan time.Time
	if atMost > 0 {
		timer := time.NewTimer(atMost - time.Since(t.came))
		defer timer.Stop()
		over = timer.C
	}
	ctx := r.Context()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	case <-r.Cancel: //nolint:staticcheck // Base heeds it, too
	case <-over:
		return fmt.Errorf("%w: waited %v for %v", ErrOverloaded, atMost, h)
	}
	// The context has no cause if Cancel was closed. Done of a custom context may be closed before its Err is set.
	return &notSent{h, cmp.Or(context.Cause(ctx), context.Canceled)}
}

// notSent is the error of a request that has not left the queue. Without it, a caller with a deadline could
// not tell whether the request has reached the server.
type notSent struct {
	host  host
	cause error
}

func (e *notSent) Error() string {
	return fmt.Sprintf("weirhttp: not sent to %v, whose turn had not come: %v", e.host, e.cause)
}

func (e *notSent) Unwrap() error { return e.cause }

// Timeout reports whether the cause is a timeout, as [net/url.Error] asks.
func (e *notSent) Timeout() bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.cause)
	return ok && timeout.Timeout()
}

// withdraw ends the wait of a request. If the request has got a slot meanwhile, the slot goes to the next
// request.
func (s *slots) withdraw(h host, w *limit.Waiter[turn]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts.Get(h).Withdraw(w) {
		s.release(h)
	}
}

// release gives a slot of the host to the request that has waited longest. The caller holds mu.
func (s *slots) release(h host) {
	l := s.hosts.Get(h)
	l.Release(1, func(w *limit.Waiter[turn]) { close(w.Value.ready) })
	if l.Holders() == 0 {
		s.hosts.Delete(h)
	}
}

// slot is what a request under way holds.
type slot struct {
	of       *Transport
	host     host
	waited   bool      // the request has waited for it
	begun    time.Time // zero before the request is sent
	released atomic.Bool
}

// release gives the slot back. When any call returns, the slot has been given back; all but the first do
// nothing else.
func (s *slot) release() {
	if s.released.Load() {
		return
	}
	slots := &s.of.slots
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if s.released.Load() {
		return
	}
	if !s.begun.IsZero() {
		s.of.times.ends(s.begun)
	}
	slots.release(s.host)
	s.released.Store(true)
}
