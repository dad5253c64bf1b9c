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

// arguments puts arguments into an engine's tasks, and takes them out again: into words of the task itself where they fit in,
// else into a box that is used for one after another.
type arguments[T any] struct {
	fits  bool      // else P points to a box, as in the zero value
	at    uintptr   // the offset of the first of the words
	boxes sync.Pool // of *argument[T]
}

// init is called by the constructor. taken says that the caller needs Q itself.
//
// What relies on it is safe: each word that an argument gets is to the collector what it is in a T, and no other one is written.
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

// pack returns a task with that argument. It is safe by init.
func (a *arguments[T]) pack(arg argument[T]) (t engine.Task) {
	if !a.fits {
		return a.box(arg)
	}
	*(*argument[T])(unsafe.Add(unsafe.Pointer(&t), a.at)) = arg
	return t
}

// of returns the argument of t, which pack has returned. So it is safe.
func (a *arguments[T]) of(t engine.Task) argument[T] {
	if !a.fits {
		return *(*argument[T])(t.P)
	}
	return *(*argument[T])(unsafe.Add(unsafe.Pointer(&t), a.at))
}

// box is safe as of undoes it.
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

// drop is called when a task will not be looked at any more. Where it is not, the box is left to the collector.
func (a *arguments[T]) drop(t engine.Task) {
	if !a.fits && !race.Enabled { // a sync.Pool would order those who use it
		a.unbox(t)
	}
}

// unbox is safe, as box has set P. It is not a part of drop, which so is a part of its callers.
//
//go:noinline
func (a *arguments[T]) unbox(t engine.Task) {
	box := (*argument[T])(t.P)
	var none argument[T]
	*box = none
	a.boxes.Put(box)
}
