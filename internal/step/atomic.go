package step

// These are the types of sync/atomic whose operations are steps. They need no
// atomic operations of their own: one goroutine runs at a time, and each switch synchronizes.

// cell is what all types have in common. Its methods do what their namesakes in sync/atomic do.
type cell[T comparable] struct {
	v T
	access
}

func (a *cell[T]) Load() T {
	point("Load")
	a.touch(false)
	return a.v
}

func (a *cell[T]) Store(v T) {
	point("Store")
	a.touch(a.v != v)
	a.v = v
}

func (a *cell[T]) Swap(v T) (old T) {
	point("Swap")
	a.touch(a.v != v)
	old, a.v = a.v, v
	return old
}

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

// number is what all integers have in common. Its methods do what their namesakes in sync/atomic do.
type number[N integer] struct{ cell[N] }

func (a *number[N]) Add(delta N) N {
	point("Add")
	a.touch(delta != 0)
	a.v += delta
	return a.v
}

func (a *number[N]) And(mask N) (old N) {
	point("And")
	old = a.v
	a.touch(old&^mask != 0)
	a.v &= mask
	return old
}

func (a *number[N]) Or(mask N) (old N) {
	point("Or")
	old = a.v
	a.touch(mask&^old != 0)
	a.v |= mask
	return old
}

// Int32 stands for [sync/atomic.Int32].
type Int32 struct{ number[int32] }

// Int64 stands for [sync/atomic.Int64].
type Int64 struct{ number[int64] }

// Uint32 stands for [sync/atomic.Uint32].
type Uint32 struct{ number[uint32] }

// Uint64 stands for [sync/atomic.Uint64].
type Uint64 struct{ number[uint64] }

// Bool stands for [sync/atomic.Bool].
type Bool struct{ cell[bool] }

// Pointer stands for [sync/atomic.Pointer].
type Pointer[T any] struct{ cell[*T] }
