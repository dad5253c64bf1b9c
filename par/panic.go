package par

import (
	"bytes"
	"runtime/debug"

	"github.com/64ed045f/weir"
)

// caught makes a Panic of what recover returned, as a group does for its tasks. It
// must be called while the stack that panicked still stands: by a deferred
// function.
func caught(value any) *weir.Panic {
	stack := debug.Stack()
	head := bytes.IndexByte(stack, '\n') + 1
	if start := bytes.Index(stack, []byte("\npanic(")); start >= head {
		// The frames above the panic are our own.
		stack = append(stack[:head:head], stack[start+1:]...)
	}
	return &weir.Panic{Value: value, Stack: stack}
}
