package peers_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondPanicCases are about tasks that do not return.
var pondPanicCases = []peers.Case{
	{
		Name: "APanicIsTheErrorOfItsFuture",
		Theirs: []string{
			"pond.TestPoolSubmitWithPanic",
			"pond.TestResultPoolSubmitTaskWithPanic",
			"pond.TestInvokeTaskHandlesPanicByDefault",
			"pond.TestPoolDefaultHasPanicRecoveryEnabled",
		},
		Behaviour: "By default the panic of a task ends nothing: a caller that waits for the task gets no value and an error that is known as a panic, wraps what it panicked with if that is an error, and shows value and stack, the stack by %+v.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			for _, value := range []any{errBoom, "dummy panic"} {
				f := pondAsync(t, p, func() (int, error) { panic(value) })
				got, err := f.Get(t.Context())
				equal(t, "value", got, 0)
				panicked, isPanic := errors.AsType[*weir.Panic](err)
				if !isPanic {
					t.Fatalf("not a panic: %v", err)
				}
				equal(t, "what it panicked with", panicked.Value, value)
				_, isErr := value.(error)
				equal(t, "it wraps the error", errors.Is(err, errBoom), isErr)
				for _, want := range []string{fmt.Sprint(value), "pond_panic_test.go", "goroutine "} {
					if !strings.Contains(fmt.Sprintf("%+v", panicked), want) {
						t.Errorf("the panic has no %q: %+v", want, panicked)
					}
				}
			}
			pondGives(t, pondAsync(t, p, func() (int, error) { return 5, nil }), 5, nil)
			p.Close()
		},
	},
	{
		Name:      "APanicCanEndTheProgram",
		Theirs:    []string{"pond.TestPoolWithoutPanicRecoveryOption", "pond.TestInvokeTaskWithoutPanicRecoveryPanics"},
		Behaviour: "A pool can be set not to catch panics: then one ends the program as it would in a plain goroutine.",
		Outside:   true,
		Run: func(t *testing.T) {
			const survived = "the program lives on"
			if inChild() {
				p := pondPool(1, weir.CrashOnPanic())
				_, err := pondAsync(t, p, func() (int, error) { panic("all is lost") }).Get(t.Context())
				fmt.Println(survived, err)
				p.Close()
				return
			}
			output, err := child(t)
			if err == nil || strings.Contains(output, survived) {
				t.Errorf("the program did not end: %s", output)
			}
			if !strings.Contains(output, "panic: all is lost") {
				t.Errorf("the program ended otherwise: %s", output)
			}
		},
	},
	{
		Name:      "AnExitedGoroutineHoldsNothingUp",
		Theirs:    []string{"pond.TestStopAndWaitWithGoexit", "pond.TestTaskInvokesGoexitAndPoolRecovers"},
		Behaviour: "A task that ends its goroutine keeps neither the end of the pool waiting nor the tasks behind it from running, and counts as ended.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			exited := pondAsync(t, p, func() (int, error) { runtime.Goexit(); return 1, nil })
			normal := pondAsync(t, p, func() (int, error) { return 2, nil })
			p.Close()
			equal(t, "the first has resolved", over(exited.Done()), true)
			pondGives(t, normal, 2, nil)
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 1, Accepted: 2, Finished: 2})
		},
	},
	{
		Name:      "AnExitedGoroutineIsCalledThat",
		Theirs:    []string{"pond.TestTaskInvokesGoexitAndPoolRecovers"},
		Behaviour: "A caller that waits for a task that ended its goroutine gets the error that the pool was stopped.",
		Different: "The error is ErrGoexit, which says what happened; the pool may well be open.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			pondGives(t, pondAsync(t, p, func() (int, error) { runtime.Goexit(); return 1, nil }), 0, weir.ErrGoexit)
			ok(t, p.Submit(func() {}))
			p.Close()
		},
	},
}
