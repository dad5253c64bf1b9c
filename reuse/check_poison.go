package reuse

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// The poison of the kinds that do not become zero. Signed numbers are negative, because a negative length,
// index or count does less harm than a large one.
const (
	poisonInt    = -0x2424242424242425 // all bytes are 0xDB, at any width
	poisonUint   = 0xDBDBDBDBDBDBDBDB
	poisonString = "reuse: used after Put"
)

// overwrite poisons an object. It returns functions that say which part of the object was written since, and
// how many bytes they watch. It writes through reflect, which knows where pointers are; the race detector
// sees the write.
func (l *ledger) overwrite(object reflect.Value) (changed []func() string, size int) {
	add := func(array reflect.Value) {
		if array.Cap() > 0 && array.Type().Elem().Size() > 0 {
			changed = append(changed, l.overwriteArray(array))
			size += array.Cap() * int(array.Type().Elem().Size())
		}
	}
	switch object.Kind() {
	case reflect.Slice:
		add(object)
	case reflect.Map:
		object.Clear()
		changed = append(changed, func() string {
			if object.Len() == 0 {
				return ""
			}
			return "an entry"
		})
	case reflect.Pointer:
		target := object.Elem()
		if buffer, ok := reflect.TypeAssert[*bytes.Buffer](object); ok {
			buffer.Reset() // else Bytes leaves out what was read
			add(reflect.ValueOf(buffer.Bytes()))
		} else if target.Kind() == reflect.Slice {
			add(target)
		}
		// Treat the target as an array of one element.
		add(reflect.SliceAt(target.Type(), object.UnsafePointer(), 1))
	default:
	}
	return changed, size
}

// arrayOf returns a slice of the array of a buffer, up to its end. It returns nil for other objects.
func arrayOf(object reflect.Value) []byte {
	if !object.IsValid() {
		return nil
	}
	buffer, _ := reflect.TypeAssert[*bytes.Buffer](object)
	if buffer == nil {
		return nil
	}
	if unread := buffer.Len(); unread > 0 && unread <= buffer.Cap() { // poison may have come over the length
		return buffer.Bytes()
	}
	if buffer.Len() == 0 {
		buffer.Reset() // else one that is full, and was read to its end, shows nothing of its array
	}
	return buffer.AvailableBuffer()
}

// overwriteArray poisons the array of a slice, up to its capacity.
func (l *ledger) overwriteArray(array reflect.Value) (changed func() string) {
	array = array.Slice(0, array.Cap())
	kind := array.Type().Elem()
	poison := l.poison(kind)
	array.Index(0).Set(poison)
	spread(array)
	want := memory(poison.Addr().UnsafePointer(), kind.Size())
	got := memory(array.UnsafePointer(), uintptr(array.Len())*kind.Size())
	return func() string {
		// The array is all poison if its first element is, and each element equals the one before it.
		if bytes.Equal(got[:len(want)], want) && bytes.Equal(got[len(want):], got[:len(got)-len(want)]) {
			return ""
		}
		for i := range got {
			if at := i % len(want); got[i] != want[at] {
				where := path(kind, uintptr(at))
				if array.Len() > 1 {
					return fmt.Sprintf("[%d]%s", i/len(want), where)
				}
				return kind.String() + where
			}
		}
		return ""
	}
}

// memory returns the bytes at an address. It is safe while size bytes there belong to one object, which
// the slice keeps alive.
func memory(at unsafe.Pointer, size uintptr) []byte { return unsafe.Slice((*byte)(at), size) }

// path names the field or element of a type at an offset.
func path(kind reflect.Type, offset uintptr) string {
	switch kind.Kind() {
	case reflect.Struct:
		for field := range kind.Fields() {
			if offset >= field.Offset && offset < field.Offset+field.Type.Size() {
				return "." + field.Name + path(field.Type, offset-field.Offset)
			}
		}
	case reflect.Array:
		size := kind.Elem().Size()
		return fmt.Sprintf("[%d]", offset/size) + path(kind.Elem(), offset%size)
	default:
	}
	return ""
}

// poison returns the poison of a type.
func (l *ledger) poison(kind reflect.Type) reflect.Value {
	poison, known := l.poisons[kind]
	if !known {
		poison = reflect.New(kind).Elem()
		fill(poison)
		l.poisons[kind] = poison
	}
	return poison
}

// fill poisons a zero value that nothing else refers to.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(poisonInt)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(poisonUint)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.NaN())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(math.NaN(), math.NaN()))
	case reflect.String:
		v.SetString(poisonString)
	case reflect.Array:
		if v.Len() > 0 {
			fill(v.Index(0))
			spread(v.Slice(0, v.Len()))
		}
	case reflect.Struct:
		switch v.Type().PkgPath() {
		case "sync", "sync/atomic":
			return // a goroutine that locks a poisoned mutex would wait forever, without a report
		}
		for _, field := range v.Fields() {
			// Set the field by its address: through the struct, reflect refuses unexported fields.
			fill(reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem())
		}
	default: // other kinds stay nil: any other bits could crash the collector
	}
}

// spread copies the first element to all others.
func spread(array reflect.Value) {
	for n := 1; n < array.Len(); n *= 2 {
		reflect.Copy(array.Slice(n, array.Len()), array.Slice(0, n))
	}
}
