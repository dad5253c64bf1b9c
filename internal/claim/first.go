package claim

import "sync/atomic"

// First decides which of several goroutines comes first. The zero First is not taken.
type First struct{ taken atomic.Bool }

// Take reports whether the caller is the first.
func (f *First) Take() bool { return f.taken.CompareAndSwap(false, true) }

// Taken reports whether Take was called.
func (f *First) Taken() bool { return f.taken.Load() }
