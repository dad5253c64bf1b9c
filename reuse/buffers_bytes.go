package reuse

import "bytes"

// GetBuffer returns an empty buffer with room for what users usually write: for what all but
// 1 in 32 of the buffers that came back lately needed. This is rounded up to a power of
// two, at least 64 bytes; the capacity is that, or more, but less than four times as much.
//
// When the needs change, the size follows. If users outgrow too many buffers, GetBuffer hands out
// larger ones after some 150 more calls of PutBuffer, and the very first time after 10. If smaller
// ones would do, it hands these out after some 8000 calls, or after 512 if the size is above 64 KiB.
//
// GetBuffer allocates only if nothing that fits is kept. With PutBuffer it takes a few
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

// another returns a buffer for a class of which none is kept.
func (b *Buffers) another(class int) *bytes.Buffer {
	// A buffer that a user outgrew is in the next class now, and serves in its old one. PutBuffer
	// does not even keep larger ones: if they were handed out, all would be huge in the end.
	if class+1 < classes {
		if kept, ok := b.buffers[class+1].Get().(*bytes.Buffer); ok {
			return kept
		}
	}
	return newBuffer(b.Get(sizeOf(class)), class)
}

// newBuffer returns a buffer with an array of a class.
func newBuffer(array []byte, class int) *bytes.Buffer {
	mark(array, class)
	return bytes.NewBuffer(array[:0])
}

// PutBuffer empties a buffer and keeps it for GetBuffer. The buffer may come from anywhere, and its
// user may have read or reset it: PutBuffer finds out how much was written to it all the same.
//
// Buffers with a capacity of less than 64 bytes or more than 64 MiB, and of four or more times
// the size that is handed out, are left to the garbage collector. PutBuffer of nil does nothing.
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

// dropBuffer is PutBuffer for a buffer that is too small or too large to be kept.
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

// A buffer that was reset, or read to its end, does not say how much was written to it. So there
// is a mark in its array where each smaller class ends: its user wrote up to the last mark that is
// gone. (Programs measure the depth of stacks in this way, too, by painting them.) An array that
// a buffer has grown into has no marks: then all of it counts. That is close enough, for
// it has at most twice the room of the one before, or what was needed at the moment.
var paint = [8]byte{0xd1, 0xc5, 0x93, 0xa7, 0x4e, 0x8b, 0x60, 0xf2}

// markIn returns where in an array the mark of a class is.
func markIn(array []byte, class int) *[len(paint)]byte {
	return (*[len(paint)]byte)(array[sizeOf(class):])
}

// mark puts the marks below a class into an array.
func mark(array []byte, class int) {
	for lower := range class {
		*markIn(array, lower) = paint
	}
}

// marked returns the least class that would have done for what was written to an array of at
// least the smallest size, and marks it anew.
func marked(array []byte) int {
	// The last mark must have room.
	class := classFor(len(array) &^ (len(paint) - 1))
	if class == 0 {
		return 0
	}
	if top := markIn(array, class-1); *top != paint {
		// That suffices while each use overwrites this mark. When one use does not, the lower
		// marks may still be gone from an earlier use.
		*top = paint
		return class
	}
	for class > 0 && *markIn(array, class-1) == paint {
		class--
	}
	mark(array, class)
	return class
}
