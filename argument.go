package weir

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// argument is what a FuncPool's function is called with.
type argument[T any] struct {
	race.Tag // which is empty without the race detector
	arg      T
}

// arguments puts arguments into tasks of an engine, and takes them out again. An argument that fits into the
// words of a task is stored there, any other in a box, which later arguments use again.
type arguments[T any] struct {
	fits  bool      // else P points to a box, as in the zero value
	at    uintptr   // the offset of the first of the words
	boxes sync.Pool // of *argument[T]
}

// init is called by the constructor. taken says that the caller needs Q itself.
//
// The conversions that rely on it are safe: a word of the task holds a pointer only where T has one, and no
// other word is written.
func (a *arguments[T]) init(taken bool) {
	var t engine.Task
	a.fits = !race.Enabled // else it comes with its tag
	switch of := reflect.TypeFor[T](); of.Kind() {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Func, reflect.Map, reflect.Chan, reflect.String: // P and, for a string, N
		a.at = unsafe.Offsetof(t.P)
	case reflect.Interface: // Q and P
		a.at, a.fits = unsafe.Offsetof(t.Q), a.fits && !taken
	default:
		a.at, a.fits = unsafe.Offsetof(t.N), a.fits && of.Size() <= unsafe.Sizeof(t.N) && !hasPointers(of)
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if hasPointers(field.Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Complex128
	}
}

// pack returns a task with that argument. The write is safe: see init.
func (a *arguments[T]) pack(arg argument[T]) (t engine.Task) {
	if !a.fits {
		return a.box(arg)
	}
	*(*argument[T])(unsafe.Add(unsafe.Pointer(&t), a.at)) = arg
	return t
}

// of returns the argument of t, a task that pack has returned. The read is safe: it has the type that pack wrote.
func (a *arguments[T]) of(t engine.Task) argument[T] {
	if !a.fits {
		return *(*argument[T])(t.P)
	}
	return *(*argument[T])(unsafe.Add(unsafe.Pointer(&t), a.at))
}

// box returns a task that points to a copy of arg. That is safe, as of reads the pointer with the same type.
func (a *arguments[T]) box(arg argument[T]) engine.Task {
	box, ok := a.boxes.Get().(*argument[T])
	if !ok {
		box = new(argument[T])
	}
	*box = arg
	return engine.Task{P: unsafe.Pointer(box)}
}

// keep returns err, which says why t was not accepted, if it was not.
func (a *arguments[T]) keep(t engine.Task, err error) error {
	if err != nil {
		a.drop(t)
	}
	return err
}

// drop is called for a task whose argument is not needed any more. Without the call the collector frees the
// box.
func (a *arguments[T]) drop(t engine.Task) {
	if !a.fits && !race.Enabled { // a sync.Pool would order its users
		a.unbox(t)
	}
}

// unbox lets another task use the copy that t points to. The conversion is safe: box has set P. unbox is not inlined, so that drop can be.
//
//go:noinline
func (a *arguments[T]) unbox(t engine.Task) {
	box := (*argument[T])(t.P)
	var none argument[T]
	*box = none
	a.boxes.Put(box)
}
