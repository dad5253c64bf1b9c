package reuse

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// callers is a stack as addresses, innermost call first, with zeros after its end.
type callers [32]uintptr

// here returns the stack, starting at its caller's caller.
func here() (c callers) {
	runtime.Callers(3, c[:])
	return c
}

// stack is a call stack, shared by many objects.
type stack struct {
	callers callers
	order   int // numbers stacks in the order in which they became known
}

func (l *ledger) stack(c callers) *stack {
	s := l.stacks[c]
	if s == nil {
		s = &stack{c, len(l.stacks)}
		l.stacks[c] = s
	}
	return s
}

// frames returns the calls from the innermost call outside this package on, without the frames of the runtime
// at both ends.
func (s *stack) frames() []runtime.Frame {
	var frames []runtime.Frame
	n := slices.Index(s.callers[:], 0)
	if n < 0 {
		n = len(s.callers)
	}
	iterator := runtime.CallersFrames(s.callers[:n])
	for more := n > 0; more; {
		var frame runtime.Frame
		frame, more = iterator.Next()
		frames = append(frames, frame)
	}
	ofRuntime := func(f runtime.Frame) bool { return strings.HasPrefix(f.Function, "runtime.") }
	own := reflect.TypeFor[stack]().PkgPath() + "."
	for len(frames) > 1 && (ofRuntime(frames[0]) || strings.HasPrefix(frames[0].Function, own)) {
		frames = frames[1:]
	}
	for len(frames) > 1 && ofRuntime(frames[len(frames)-1]) {
		frames = frames[:len(frames)-1]
	}
	return frames
}

// part is a stack in the report of a fault, and what happened there.
type part struct {
	what  string
	stack *stack
}

// fault records a fault. The first line of its report has the place where the first stack begins.
func (l *ledger) fault(title string, parts ...part) {
	var stacks strings.Builder
	for i, p := range parts {
		if p.stack == nil {
			continue
		}
		fmt.Fprintf(&stacks, "\n%s:", p.what)
		for j, frame := range p.stack.frames() {
			if i == 0 && j == 0 {
				title += fmt.Sprintf(", %s at %s:%d", p.what, frame.File, frame.Line)
			}
			fmt.Fprintf(&stacks, "\n\t%s\n\t\t%s:%d", frame.Function, frame.File, frame.Line)
		}
	}
	l.faults = append(l.faults, "reuse: "+title+stacks.String())
}

func times(n int, what string) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%d × %s", n, what)
}

func (l *ledger) takeFaults() []string {
	faults := l.faults
	l.faults = nil
	return faults
}
