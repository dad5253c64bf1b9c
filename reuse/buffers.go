package reuse

import (
	"bytes"
	"sync"
	"unsafe"
)

// Buffers keeps byte slices and [bytes.Buffer] objects for reuse, sorted by size. The zero value is ready to
// use. Buffers must not be copied after first use. Any number of goroutines may call all methods at once, and
// no method blocks.
//
// After Put or PutBuffer the memory belongs to other users. The caller must no longer read, write or put the
// slice or buffer, nor a slice that shares its memory, such as one from [bytes.Buffer.Bytes]. [Check] finds
// such use in tests, except that it takes a slice whose capacity was cut for another one. The next user of a slice
// can read what is left in it: clear secrets before Put.
//
// In the terminology of the Go memory model, a call to Put or PutBuffer synchronizes before the call to Get
// or GetBuffer that returns the same memory.
type Buffers struct {
	// As a pointer, an array fits into an interface without an allocation. The class gives its size.
	arrays  [classes]sync.Pool // of *byte, the first of sizeOf(class) or more
	buffers [classes]sync.Pool // of *bytes.Buffer, all empty, by their capacity

	fit fit

	// Under Check nothing is kept. These two pools record what is in use.
	checkedSlices  Pool[[]byte]
	checkedBuffers Pool[*bytes.Buffer]
}

// Get returns a slice of length n. Its capacity is the next power of two, at least 64, or n itself above 64
// MiB. Its contents are unspecified: zeros, or whatever an earlier user has left. To append from the start,
// use Get(n)[:0]. Get(0) is not nil, and has a capacity, too. A negative n panics.
//
// If append has moved the contents to a larger slice, put the larger slice; the earlier one may be put as
// well.
//
// Get allocates only if no slice of the size is kept, and always above 64 MiB. Get and Put together take a
// few nanoseconds more than those of a [sync.Pool].
func (b *Buffers) Get(n int) []byte {
	class := classFor(n)
	if class >= classes || checksOn.Load() {
		return b.getOther(n)
	}
	if first, kept := b.arrays[class].Get().(*byte); kept {
		// Safe: Put keeps under a class only arrays of at least its size.
		return unsafe.Slice(first, sizeOf(class))[:n]
	}
	return make([]byte, n, sizeOf(class))
}

// getOther is Get for sizes without a class, for size 0, and while checks are on.
func (b *Buffers) getOther(n int) []byte {
	must(n >= 0, "size must be at least 0", n)
	switch {
	case checksOn.Load():
		return b.getChecked(n)
	case n == 0:
		return b.Get(1)[:0]
	default:
		return create(n)
	}
}

// create returns a new slice of length n.
func create(n int) []byte {
	if n > largest {
		return make([]byte, n)
	}
	return make([]byte, n, sizeOf(classFor(max(n, 1))))
}

// Put keeps a slice for Get. The slice may come from anywhere, and have any length and capacity. The caller
// gives away the whole capacity, not only the length: to put a part of an array that other code uses, put
// s[i:j:j]. While a part is kept, so is the whole array.
//
// The capacity is rounded down to a power of two. Put leaves slices of less than 64 bytes or more than 64 MiB
// to the garbage collector. Put of nil does nothing.
func (b *Buffers) Put(s []byte) {
	if checksOn.Load() {
		b.putChecked(s)
		return
	}
	if room := cap(s); room >= smallest && room <= largest {
		// Safe: the pointer keeps the whole array alive, and the class is rounded down.
		b.arrays[classOf(room)].Put(unsafe.SliceData(s))
	}
}
