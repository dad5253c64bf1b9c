package reuse

import "bytes"

// GetBuffer returns an empty buffer with room for what users usually write. That is what all but 1 in 32 of
// the buffers that lately came back needed, rounded up to a power of two, at least 64 bytes. The capacity is
// that size or more, but less than four times as much.
//
// When the needs change, the size follows. If users outgrow too many buffers, GetBuffer returns larger ones
// when about 150 more were outgrown, after 4000 calls of PutBuffer at most, and the very first time after 10.
// If smaller buffers are enough, it returns these after about 8000 calls, or after 512 if the size is above
// 64 KiB.
//
// GetBuffer allocates only if no buffer that fits is kept. GetBuffer and PutBuffer together take a few
// nanoseconds more than the methods of a [sync.Pool].
func (b *Buffers) GetBuffer() *bytes.Buffer {
	class := b.fit.class()
	if checksOn.Load() {
		return b.getBufferChecked(class)
	}
	if kept, ok := b.buffers[class].Get().(*bytes.Buffer); ok {
		return kept
	}
	return b.another(class)
}

// another returns a buffer for a class that has none kept.
func (b *Buffers) another(class int) *bytes.Buffer {
	// A buffer that a user outgrew is now in the next class, and can serve in its old class. PutBuffer does
	// not keep larger ones: if they were handed out, all buffers would end up huge.
	if class+1 < classes {
		if kept, ok := b.buffers[class+1].Get().(*bytes.Buffer); ok {
			return kept
		}
	}
	return newBuffer(b.Get(sizeOf(class)), class)
}

// newBuffer returns a buffer on an array of the class.
func newBuffer(array []byte, class int) *bytes.Buffer {
	mark(array, class)
	return bytes.NewBuffer(array[:0])
}

// PutBuffer empties a buffer and keeps it for GetBuffer. The buffer may come from anywhere, and its user may
// have read or reset it: PutBuffer finds out how much was written to it nevertheless.
//
// PutBuffer leaves some buffers to the garbage collector: those with a capacity of less than 64 bytes, of
// more than 64 MiB, or of four or more times the size that GetBuffer returns. PutBuffer of nil does nothing.
func (b *Buffers) PutBuffer(buffer *bytes.Buffer) {
	if buffer == nil {
		return
	}
	room := buffer.Cap()
	written := room - buffer.Available()
	if room < smallest || room > largest {
		b.dropBuffer(buffer, written)
		return
	}
	var needed int
	if written > 0 {
		needed = classFor(written)
	} else {
		needed = marked(buffer.AvailableBuffer()[:room])
	}
	state := b.fit.state.Load()
	if state != uint32(needed) {
		b.fit.learn(needed, state)
	}
	if checksOn.Load() {
		b.putBufferChecked(buffer)
		return
	}
	buffer.Reset()
	if class := classOf(room); class <= int(state&^learning)+1 {
		b.buffers[class].Put(buffer)
	}
}

// dropBuffer is PutBuffer for a buffer that is too small or too large to keep.
func (b *Buffers) dropBuffer(buffer *bytes.Buffer, written int) {
	if written == 0 && buffer.Cap() > largest {
		written = largest // or more: the class is the same
	}
	if written > 0 {
		b.fit.learn(min(classFor(written), classes-1), b.fit.state.Load())
	}
	if checksOn.Load() {
		b.putBufferChecked(buffer)
		return
	}
	buffer.Reset()
}

// paint marks how far an array was written. A buffer that was reset, or read to its end, does not say how
// much was written to it. So its array has a mark where each smaller class ends. Its user wrote at least up
// to the last mark that is gone. Programs measure the depth of stacks in the same way, by painting them. An
// array that a buffer has grown into has no marks, so all of it counts. That is close enough: the array has
// at most twice the room of the earlier one, or what was needed at that moment.
var paint = [8]byte{0xd1, 0xc5, 0x93, 0xa7, 0x4e, 0x8b, 0x60, 0xf2}

// markIn returns where the mark of a class is in an array.
func markIn(array []byte, class int) *[len(paint)]byte {
	return (*[len(paint)]byte)(array[sizeOf(class):])
}

// mark writes the marks of all classes below the given class into an array.
func mark(array []byte, class int) {
	for lower := range class {
		*markIn(array, lower) = paint
	}
}

// marked returns the smallest class that is enough for what was written to an array of at least the smallest
// size. It also restores the marks.
func marked(array []byte) int {
	// The last mark must have room.
	class := classFor(len(array) &^ (len(paint) - 1))
	if class == 0 {
		return 0
	}
	if top := markIn(array, class-1); *top != paint {
		// Restoring this mark alone is enough while each use overwrites it. When one use does not, the lower
		// marks may still be missing from an earlier use.
		*top = paint
		return class
	}
	for class > 0 && *markIn(array, class-1) == paint {
		class--
	}
	mark(array, class)
	return class
}
