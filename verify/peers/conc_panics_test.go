package peers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// concPanics answers conc/panics, whose Catcher and Try call a function where they stand, by
// the panics that a Group returns as errors.
var concPanics = []peers.Case{
	{
		Name:      "PanicWithAnErrorIsThatError",
		Theirs:    []string{"panics.TestCatcher/error", "panics.TestTry/panics", "panics.ExampleCatcher_error"},
		Behaviour: "A panic whose value is an error is that error for errors.Is and errors.As. Its text is one line, with the message and the place; %+v has the stack as well.",
		Run: func(t *testing.T) {
			err := outcome(t, func(context.Context) error { panicWithAnError(); return nil })
			isError(t, err, errBoom)
			p, isPanic := errors.AsType[*weir.Panic](err)
			if !isPanic || errors.Unwrap(p) != errBoom { //nolint:errorlint // Unwrap has to return it as it is.
				t.Errorf("got %v", err)
			}
			for _, want := range []string{errBoom.Error(), "peers_test.panicWithAnError"} {
				if !strings.Contains(fmt.Sprintf("%+v", p), want) {
					t.Errorf("%q is not in the text of the panic:\n%v", want, err)
				}
			}
		},
	},
	{
		Name:      "PanicWithoutAnErrorWrapsNone",
		Theirs:    []string{"panics.TestCatcher/not error"},
		Behaviour: "A panic whose value is not an error wraps none.",
		Run: func(t *testing.T) {
			p, isPanic := errors.AsType[*weir.Panic](outcome(t, explodeTask))
			if !isPanic || errors.Unwrap(p) != nil || errors.Is(p, errBoom) {
				t.Errorf("got %v, which wraps %v", p, errors.Unwrap(p))
			}
		},
	},
	{
		Name:      "NoPanicLeavesNoTrace",
		Theirs:    []string{"panics.TestCatcher/repanic does not panic without child panic", "panics.TestTry/no panic", "panics.TestRecoveredAsError/as error is nil"},
		Behaviour: "When nothing has panicked, nothing panics in the end either, and the error is a plain nil.",
		Run: func(t *testing.T) {
			if err := outcome(t, succeedTask); err != nil {
				t.Errorf("Wait returned %#v", err)
			}
			g := weir.NewGroup(t.Context(), 1)
			g.Go(succeedTask)
			equal(t, "panic", caught(func() { ok(t, g.Wait()) }), nil)
		},
	},
	{
		Name:      "OnePanicAmongManyTasks",
		Theirs:    []string{"panics.TestCatcher/is goroutine safe"},
		Behaviour: "One panic among a hundred functions is caught, and no other value with it.",
		Run: func(t *testing.T) {
			g := weir.NewGroup(t.Context(), weir.Unbounded, weir.PanicsAsErrors(), weir.KeepGoing())
			var ran atomic.Int64
			for i := range 100 {
				g.Go(func(context.Context) error {
					ran.Add(1)
					if i == 50 {
						panic("fifty")
					}
					return nil
				})
			}
			failed, isTask := errors.AsType[*weir.TaskError](g.Wait())
			if !isTask || failed.Index != 50 {
				t.Fatalf("failed: %v, want task 50", failed)
			}
			p, isPanic := errors.AsType[*weir.Panic](failed.Err)
			if !isPanic || p.Value != any("fifty") {
				t.Errorf("got %v", failed.Err)
			}
			equal(t, "tasks that ran", ran.Load(), 100)
		},
	},
	{
		Name:      "StackOfAPanic",
		Theirs:    []string{"panics.ExampleCatcher_callers"},
		Behaviour: "A panic has the program counters of its callers, among them those of the library that recovered it.",
		Different: "A Panic has its stack as text, as debug.Stack writes it, which is what one reads; it begins with the panic, without the library's own frames above that.",
		Run: func(t *testing.T) {
			p, isPanic := errors.AsType[*weir.Panic](outcome(t, func(context.Context) error { panicWithAnError(); return nil }))
			if !isPanic {
				t.Fatal("no panic")
			}
			lines := strings.Split(string(p.Stack), "\n")
			// The goroutine, the panic and its place, and then the caller of panic.
			if len(lines) < 4 || !strings.HasPrefix(lines[1], "panic(") || !strings.Contains(lines[3], "peers_test.panicWithAnError") {
				t.Errorf("stack:\n%s", p.Stack)
			}
		},
	},
}

// panicWithAnError panics, in a function that can be found in a stack.
//
//go:noinline
func panicWithAnError() { panic(errBoom) }

// outcome returns the error of a Group with one task, which may be a panic.
func outcome(t *testing.T, task func(context.Context) error) error {
	t.Helper()
	g := weir.NewGroup(t.Context(), 1, weir.PanicsAsErrors())
	g.Go(task)
	return g.Wait()
}
