package claim

import "sync/atomic"

// First decides which of several goroutines comes first. The zero First is not taken.
type First struct{ taken atomic.Bool }

// Take reports whether the caller is the first.
func (f *First) Take() bool { return f.taken.CompareAndSwap(false, true) }

// Renew undoes Take. Only the goroutine that was the first may call it.
func (f *First) Renew() { f.taken.Store(false) }

// Taken reports whether Take was called.
func (f *First) Taken() bool { return f.taken.Load() }
