package reuse

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Pool is a set of objects of one type that are not in use. Get takes one of them, or makes one;
// Put gives it back. The garbage collector may take objects out of a pool at any time, without
// notice: for those that must be closed there is [Keeper].
//
// The zero value is an empty pool. Set its fields before its first use, and do not change them
// after it. A Pool must not be copied. Many goroutines may call its methods at once.
//
// An object is its user's alone from Get to Put. The user must not use it after Put, nor a part of
// it, such as a slice of its memory: the next user may have it already. [Check] finds such use in
// tests.
//
// In the terminology of the Go memory model, a call to Put(x) synchronizes before a call to Get
// that returns the same x, and so does a call to New that returns x.
type Pool[T any] struct {
	// New makes an object when the pool has none. Each must be a new one, which no other
	// code uses. If New is nil, Get returns the zero value of T instead.
	New func() T

	// Reset, if set, makes an object ready for its next user. Put calls it for each object that
	// is kept, so that what the object refers to does not stay alive in the pool. It must do so
	// in whatever state its user has left the object.
	Reset func(T)

	// Keep, if set, reports whether an object is worth keeping: one that has grown too
	// large is better left to the collector. Put calls it first, and drops what it refuses,
	// without Reset.
	Keep func(T) bool

	// Poison, if set, is called with an object that was put while [Check] is on, in place of
	// the poison that Check writes; whether the object is written to later is not watched then.
	// Set it for objects that own memory which Check does not reach, or, to a function that does
	// nothing, for objects that code other than their user's writes to, such as their own goroutines.
	Poison func(T)

	shape   atomic.Uint32 // unknown until the pool is used without checks
	objects sync.Pool     // of T if that is direct, else of *holder[T] with a value
	holders sync.Pool     // of *holder[T] without one
}

// The shapes of T: how an object gets into an interface without an allocation.
const (
	unknown = iota
	direct  // as it is; nil if its first word is
	slice   // in a holder; nil if its first word is
	other   // in a holder
)

// holder carries a value through a sync.Pool.
type holder[T any] struct{ value T }

// Get returns an object of the pool, or a new one if it has none. It never blocks. The object
// is the caller's alone until it calls Put. The caller need not call Put: then the object is left
// to the collector.
func (p *Pool[T]) Get() T {
	if checksOn.Load() {
		return p.getChecked()
	}
	kept := p.objects.Get()
	if x, ok := kept.(T); ok {
		return x
	}
	return p.getOther(kept)
}

// getOther returns the object in a holder, or a new one if there is no holder.
func (p *Pool[T]) getOther(kept any) T {
	if h, ok := kept.(*holder[T]); ok {
		x := h.value
		var zero T
		h.value = zero // it must not keep alive what is handed out
		p.holders.Put(h)
		return x
	}
	p.learn()
	return p.create()
}

func (p *Pool[T]) create() T {
	if p.New != nil {
		return p.New()
	}
	var zero T
	return zero
}

// Put gives an object back that came from Get of the same pool. It never blocks. It calls Keep,
// and then Reset; if one of them panics, or ends the goroutine by [runtime.Goexit], the object is
// not kept. A nil pointer, slice, map, channel, function or interface is never kept, and
// neither Keep nor Reset is called with it.
func (p *Pool[T]) Put(x T) {
	if p.shape.Load() != direct || checksOn.Load() || firstWord(&x) == nil {
		p.putOther(x)
		return
	}
	if p.Keep != nil && !p.Keep(x) {
		return
	}
	if p.Reset != nil {
		p.Reset(x)
	}
	p.objects.Put(x)
}

// putOther is Put for an object that is no pointer, is nil, is the first one put, or is checked.
func (p *Pool[T]) putOther(x T) {
	if checksOn.Load() && p.putChecked(x) {
		return
	}
	shape := p.learn()
	if isNil(shape, &x) || p.Keep != nil && !p.Keep(x) {
		return
	}
	if p.Reset != nil {
		p.Reset(x)
	}
	if shape == direct {
		p.objects.Put(x)
		return
	}
	h, _ := p.holders.Get().(*holder[T])
	if h == nil {
		h = new(holder[T])
	}
	h.value = x
	p.objects.Put(h)
}

// Use calls f with an object from Get, and puts it back when f returns, panics, or ends its
// goroutine by [runtime.Goexit]: Keep and Reset see it in whatever state f has left it. Use puts
// back what f got: a slice that f has grown is lost, so for slices call Get and Put.
func (p *Pool[T]) Use(f func(T)) {
	mustFunction(f != nil)
	x := p.Get()
	defer p.Put(x)
	f(x)
}

// learn returns the shape of T, and notes that the pool is used without checks: from then on, an
// object that the checks do not know may come from an earlier Get.
func (p *Pool[T]) learn() uint32 {
	if shape := p.shape.Load(); shape != unknown {
		return shape
	}
	shape := shapeOf(reflect.TypeFor[T]().Kind())
	p.shape.Store(shape)
	return shape
}

func shapeOf(kind reflect.Kind) uint32 {
	switch kind {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return direct
	case reflect.Slice:
		return slice
	default:
		return other
	}
}

func isNil[T any](shape uint32, x *T) bool { return shape != other && firstWord(x) == nil }

// firstWord is safe if the shape of T is direct or slice: the first word of these is a pointer.
func firstWord[T any](x *T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(x)) }
