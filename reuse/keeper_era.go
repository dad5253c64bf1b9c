package reuse

import (
	"context"
	"errors"
	"sync"

	"github.com/64ed045f/weir/internal/keys"
)

// era is the time between two Resets. It holds no channel of its own, so that a keeper can have idle objects
// from one synctest bubble and open more in another bubble.
type era struct {
	mu      sync.Mutex
	cause   error // not nil if the era has ended, or the keeper was closed in it
	cancels keys.Map[*context.CancelCauseFunc, struct{}]
}

var errReset = errors.New("reuse: keeper was reset")

// watch makes end cancel a context, until the caller calls stop.
func (e *era) watch(cancel context.CancelCauseFunc) (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cause != nil {
		cancel(e.cause)
		return func() {}
	}
	e.cancels.Set(&cancel, struct{}{})
	return func() {
		e.mu.Lock()
		e.cancels.Delete(&cancel)
		e.mu.Unlock()
	}
}

// end cancels the contexts of the functions that run in the era. It holds no lock while it cancels, because
// that also runs what users have attached to those contexts.
func (e *era) end(cause error) {
	e.mu.Lock()
	e.cause = cause
	cancels := e.cancels
	e.cancels = keys.Map[*context.CancelCauseFunc, struct{}]{}
	e.mu.Unlock()
	for cancel := range cancels.All() {
		(*cancel)(cause)
	}
}
