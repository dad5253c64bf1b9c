package inside

import (
	"bytes"
	"cmp"
	"path"
	"runtime"
	"strings"
)

// PanicStack returns the stack of the calling goroutine from the panic on, without the frames of this module
// above it. A deferred function must call it: when that function has returned, the frames are gone.
func PanicStack() []byte {
	buf := make([]byte, 4096) // debug.Stack begins with 1024 bytes, and goes through such a stack two or three times
	for {
		if n := runtime.Stack(buf, false); n < len(buf) {
			return PanicPart(buf[:n])
		}
		buf = make([]byte, 2*len(buf))
	}
}

// PanicPart returns the part of a stack from the panic on.
func PanicPart(stack []byte) []byte {
	head := bytes.IndexByte(stack, '\n') + 1
	start := bytes.Index(stack, []byte("\npanic("))
	if head == 0 || start < head {
		return stack
	}
	return append(stack[:head:head], stack[start+1:]...)
}

// PanicPlace returns the file, without its folder, and the line of the panic with that stack. It prefers a
// place outside this module, which may only have passed the panic on. It returns "" if the stack does not
// tell.
func PanicPlace(stack []byte) (place string) {
	lines := strings.Split(string(stack), "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function, file := lines[i], path.Base(strings.TrimSpace(lines[i+1]))
		if strings.HasPrefix(function, "created by ") {
			break
		}
		switch {
		case strings.HasPrefix(function, "panic("):
			place = "" // the frames above panicked again
		case strings.HasPrefix(function, "runtime."):
		case strings.HasPrefix(function, module+"/") || strings.HasPrefix(function, module+"."):
			place = cmp.Or(place, file)
		default:
			place, _, _ = strings.Cut(file, " ")
			return place
		}
	}
	place, _, _ = strings.Cut(place, " ")
	return place
}

const module = "github.com/64ed045f/weir"
