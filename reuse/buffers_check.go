package reuse

import (
	"bytes"
	"reflect"
)

// getChecked is Get while checks are on.
func (b *Buffers) getChecked(n int) []byte {
	s := create(n)
	noteGet(&b.checkedSlices, s)
	return s
}

// getBufferChecked is GetBuffer while checks are on.
func (b *Buffers) getBufferChecked(class int) *bytes.Buffer {
	buffer := newBuffer(create(sizeOf(class)), class)
	noteGet(&b.checkedBuffers, buffer)
	return buffer
}

// noteGet records that a caller got x, as if from the pool p.
func noteGet[T any](p *Pool[T], x T) {
	object, call := reflect.ValueOf(x), here()
	checks.do(func(l *ledger) { l.got(p.account(l), object, call) })
}

// putChecked is Put while checks are on. If the checks are off by then, s is garbage.
func (b *Buffers) putChecked(s []byte) {
	if cap(s) == 0 {
		return // no memory that could be used after Put
	}
	b.checkedSlices.learn() // as if the pool had been used without checks: then it accepts slices from elsewhere
	b.checkedSlices.putChecked(s)
}

// putBufferChecked is PutBuffer while checks are on.
func (b *Buffers) putBufferChecked(buffer *bytes.Buffer) {
	b.checkedBuffers.learn()
	b.checkedBuffers.putChecked(buffer)
}
