package step

// These are the types of sync/atomic whose operations are steps. They need no
// atomic operations of their own: one goroutine runs at a time, and each switch synchronizes.

// cell is what all types have in common.
type cell[T comparable] struct {
	v T
	access
}

// Load is that of sync/atomic.
func (a *cell[T]) Load() T {
	point("Load")
	a.touch(false)
	return a.v
}

// Store is that of sync/atomic.
func (a *cell[T]) Store(v T) {
	point("Store")
	a.touch(a.v != v)
	a.v = v
}

// Swap is that of sync/atomic.
func (a *cell[T]) Swap(v T) (old T) {
	point("Swap")
	a.touch(a.v != v)
	old, a.v = a.v, v
	return old
}

// CompareAndSwap is that of sync/atomic.
func (a *cell[T]) CompareAndSwap(old, v T) bool {
	point("CompareAndSwap")
	if a.v != old {
		a.touch(false)
		return false
	}
	a.touch(old != v)
	a.v = v
	return true
}

type integer interface {
	~int32 | ~int64 | ~uint32 | ~uint64
}

// number is what all integers have in common.
type number[N integer] struct{ cell[N] }

// Add is that of sync/atomic.
func (a *number[N]) Add(delta N) N {
	point("Add")
	a.touch(delta != 0)
	a.v += delta
	return a.v
}

// And is that of sync/atomic.
func (a *number[N]) And(mask N) (old N) {
	point("And")
	old = a.v
	a.touch(old&^mask != 0)
	a.v &= mask
	return old
}

// Or is that of sync/atomic.
func (a *number[N]) Or(mask N) (old N) {
	point("Or")
	old = a.v
	a.touch(mask&^old != 0)
	a.v |= mask
	return old
}

// Int32 stands for that of sync/atomic.
type Int32 struct{ number[int32] }

// Int64 stands for that of sync/atomic.
type Int64 struct{ number[int64] }

// Uint32 stands for that of sync/atomic.
type Uint32 struct{ number[uint32] }

// Uint64 stands for that of sync/atomic.
type Uint64 struct{ number[uint64] }

// Bool stands for that of sync/atomic.
type Bool struct{ cell[bool] }

// Pointer stands for that of sync/atomic.
type Pointer[T any] struct{ cell[*T] }
