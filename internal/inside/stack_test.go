package inside_test

import (
	"path"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/inside"
)

// panicStack is the stack of a panic so many calls deep.
func panicStack(deep int) (stack []byte) {
	defer func() {
		if deep == 0 {
			_ = recover()
			stack = inside.PanicStack()
		}
	}()
	if deep > 0 {
		return panicStack(deep - 1)
	}
	panic("deep")
}

func TestTheStackOfAPanicIsWholeAndTakenOnce(t *testing.T) {
	for _, deep := range []int{0, 20, 80} { // the last takes more than one buffer
		stack := string(panicStack(deep))
		if calls := strings.Count(stack, "inside_test.panicStack("); calls != deep+1 || !strings.Contains(stack, "created by testing.") {
			t.Errorf("%d calls of %d in %d bytes", calls, deep+1, len(stack))
		}
	}
	if got := testing.AllocsPerRun(100, func() { panicStack(10) }); got > 2 { // the buffer, and the part of it
		t.Errorf("%v allocations", got)
	}
}

func TestThePlaceOfAPanicIsTheProgramsOwnLine(t *testing.T) {
	const ours = "github.com/64ed045f/weir/par."
	for _, test := range []struct {
		name, want string
		functions  []string
	}{
		{"a task", "main.go:10", []string{"panic", "main.task", ours + "work"}},
		{"a runtime error", "main.go:10", []string{"panic", "runtime.goPanicIndex", "main.task"}},
		{"passed on", "main.go:10", []string{"panic", ours + "leave", "panic", "main.task"}},
		{"by the program's own deferred function", "main.go:10", []string{"panic", "main.deferred", "panic", "other.task"}},
		{"a misuse of the library", "main.go:10", []string{"panic", ours + "must", "main.task"}},
		{"in the library alone", "par.go:10", []string{"panic", ours + "first", ours + "second"}},
		{"no stack", "", nil},
	} {
		stack := "goroutine 7 [running]:\n"
		for _, function := range test.functions {
			name, _, _ := strings.Cut(path.Base(function), ".")
			stack += function + "(...)\n\t/some folder/" + name + ".go:10 +0x1d\n"
		}
		stack += "created by main.start in goroutine 1\n\t/start.go:3 +0x4\n"
		if got := inside.PanicPlace([]byte(stack)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
