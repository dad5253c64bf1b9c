package reuse

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// era is the time between two Resets. It holds no channel of its own, so that a keeper can have idle
// objects from one synctest bubble and open more in another.
type era struct {
	mu      sync.Mutex
	cause   error // if it has ended, or the keeper was closed in it
	cancels map[*context.CancelCauseFunc]struct{}
}

var errReset = errors.New("reuse: keeper was reset")

// watch has end cancel a context, until the caller calls stop.
func (e *era) watch(cancel context.CancelCauseFunc) (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cause != nil {
		cancel(e.cause)
		return func() {}
	}
	if e.cancels == nil {
		e.cancels = make(map[*context.CancelCauseFunc]struct{})
	}
	e.cancels[&cancel] = struct{}{}
	return func() {
		e.mu.Lock()
		delete(e.cancels, &cancel)
		e.mu.Unlock()
	}
}

// end cancels the contexts of the functions that run in the era. It holds no lock meanwhile, since it
// also runs what users have attached to those contexts.
func (e *era) end(cause error) {
	e.mu.Lock()
	e.cause = cause
	cancels := maps.Clone(e.cancels)
	e.mu.Unlock()
	for cancel := range cancels {
		(*cancel)(cause)
	}
}
