package reuse

import "errors"

var (
	// ErrClosed is returned by a [Keeper] after Close or Shutdown has begun.
	ErrClosed = errors.New("reuse: keeper is closed")

	// ErrNoneIdle is returned by [Keeper.TryGet] if no object is ready.
	ErrNoneIdle = errors.New("reuse: no object is idle")
)

// Broken marks err as the sign of a broken object: when the function given to [Keeper.Use] returns
// it, wrapped or not, the object is discarded. Its text is that of err, and errors.Is and
// errors.As find err in it. Broken(nil) is nil.
func Broken(err error) error {
	if err == nil {
		return nil
	}
	return &broken{err}
}

type broken struct{ err error }

func (b *broken) Error() string { return b.err.Error() }

func (b *broken) Unwrap() error { return b.err }
