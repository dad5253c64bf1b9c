package reuse

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Pool is a set of objects of one type that are not in use. Get takes an object or makes one; Put gives it
// back. The garbage collector may take objects out of a pool at any time, without notice: for objects that
// must be closed, use [Keeper].
//
// The zero value is an empty pool. Set its fields before its first use, and do not change them after that. A
// Pool must not be copied. Any number of goroutines may call its methods at once.
//
// An object belongs to its user alone from Get to Put. After Put the user must not use the object, nor a part
// of it, such as a slice of its memory: the next user may already have it. [Check] finds such use in tests.
//
// In the terminology of the Go memory model, a call to Put(x) synchronizes before a call to Get that returns
// the same x. So does a call to New that returns x.
type Pool[T any] struct {
	// New makes an object when the pool has none. Each must be new, and not used by any other code. If New is
	// nil, Get returns the zero value of T instead.
	New func() T

	// Reset, if set, makes an object ready for its next user, in whatever state its user has left it. Put
	// calls Reset for each object that is kept, so that what the object refers to does not stay alive in the
	// pool.
	Reset func(T)

	// Keep, if set, reports whether an object is worth keeping: an object that has grown too large is better
	// left to the garbage collector. Put calls Keep first. It drops an object that Keep refuses, without
	// calling Reset.
	Keep func(T) bool

	// Poison, if set, is called with an object that was put while [Check] is on, instead of the poison that
	// Check writes. Check then does not watch for later writes to the object. Set Poison for objects that own
	// memory which Check does not reach. Set it to a function that does nothing for objects that code other
	// than their user's writes to, such as goroutines of their own.
	Poison func(T)

	shape   atomic.Uint32 // unknown until the pool is used without checks
	objects sync.Pool     // of T if its shape is direct, else of *holder[T] with a value
	holders sync.Pool     // of *holder[T] without a value
}

// The shapes of T say how an object gets into an interface without an allocation.
const (
	unknown = iota
	direct  // as it is; the object is nil if its first word is nil
	slice   // in a holder; the object is nil if its first word is nil
	other   // in a holder; the object is never nil
)

// holder carries a value through a sync.Pool.
type holder[T any] struct{ value T }

// Get returns an object of the pool, or a new one if the pool has none. It never blocks. The object belongs
// to the caller alone until the caller calls Put. A caller may omit Put: that leaves the object to the
// garbage collector.
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
		h.value = zero // the holder must not keep the object alive
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

// Put gives back an object that came from Get of the same pool. It never blocks. It calls Keep, and then
// Reset; if one of them panics, or ends the goroutine by [runtime.Goexit], the object is not kept. Put never
// keeps a nil pointer, slice, map, channel, function or interface, and calls neither Keep nor Reset with it.
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

// Use calls f with an object from Get, and puts the object back when f returns, panics, or ends its goroutine
// by [runtime.Goexit]. Keep and Reset get the object in whatever state f has left it. Use puts back what f
// got: a slice that f has grown is lost, so for slices call Get and Put.
func (p *Pool[T]) Use(f func(T)) {
	mustFunction(f != nil)
	x := p.Get()
	defer p.Put(x)
	f(x)
}

// learn returns the shape of T, and records that the pool is used without checks. From then on, an object
// that the checks do not know may come from an earlier Get.
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
