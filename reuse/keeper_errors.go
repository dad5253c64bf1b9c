package reuse

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned by a [Keeper] after Close or Shutdown has begun.
	ErrClosed = errors.New("reuse: keeper is closed")

	// ErrNoneIdle is returned by [Keeper.TryGet] if no object is ready.
	ErrNoneIdle = errors.New("reuse: no object is idle")
)

// Broken marks err as the sign of a broken object: a function called by [Keeper.Use] that returns
// it, wrapped or not, has its object discarded. It reads like err, and errors.Is and errors.As
// find err in it. Broken(nil) is nil.
func Broken(err error) error {
	if err == nil {
		return nil
	}
	return &broken{err}
}

type broken struct{ err error }

func (b *broken) Error() string { return b.err.Error() }

func (b *broken) Unwrap() error { return b.err }

// demand panics with what must hold, unless it does.
func demand(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("reuse: %s, got %v", rule, got))
	}
}
