package reuse

import "errors"

var (
	// ErrClosed is returned by a [Keeper] after Close or Shutdown has begun.
	ErrClosed = errors.New("reuse: keeper is closed")

	// ErrNoneIdle is returned by [Keeper.TryGet] if no object is ready.
	ErrNoneIdle = errors.New("reuse: no object is idle")
)

// Broken marks err as the sign of a broken object: if the function given to [Keeper.Use] returns the marked
// error, wrapped or not, the object is discarded. The text of the marked error is that of err, and errors.Is
// and errors.As find err in it. Broken(nil) is nil.
func Broken(err error) error {
	if err == nil {
		return nil
	}
	return &broken{err}
}

type broken struct{ err error }

func (b *broken) Error() string { return b.err.Error() }

func (b *broken) Unwrap() error { return b.err }
