package step

// Weak stands for [weak.Pointer]. It keeps what it refers to, so that no execution depends on when garbage is
// collected.
type Weak[T any] struct{ of *T }

// MakeWeak stands for [weak.Make].
func MakeWeak[T any](of *T) Weak[T] { return Weak[T]{of} }

// Value returns what the pointer refers to.
func (w Weak[T]) Value() *T { return w.of }
