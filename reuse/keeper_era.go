package reuse

import (
	"context"
	"errors"
)

// era is the time between two Resets. It is made with its first object, and dropped with the last.
type era struct {
	over   context.Context // done when it has ended, or the keeper was closed in it
	cancel context.CancelCauseFunc
}

var errReset = errors.New("reuse: keeper was reset")

func newEra() *era {
	e := new(era)
	e.over, e.cancel = context.WithCancelCause(context.Background())
	e.over.Done() // makes the channel here: it belongs to the synctest bubble of the objects, if any
	return e
}

// end cancels the contexts of the functions that run in the era, if it has had any objects. It need
// not be called under the lock.
func (e *era) end(cause error) {
	if e != nil {
		e.cancel(cause)
	}
}
