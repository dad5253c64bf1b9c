package inside

import (
	"bytes"
	"runtime/debug"
)

// PanicStack returns the stack of the calling goroutine from the panic on, without the
// frames of our own that stand above it. A deferred function must call it: when that
// has returned the frames are gone.
func PanicStack() []byte {
	stack := debug.Stack()
	head := bytes.IndexByte(stack, '\n') + 1
	start := bytes.Index(stack, []byte("\npanic("))
	if head == 0 || start < head {
		return stack
	}
	return append(stack[:head:head], stack[start+1:]...)
}
