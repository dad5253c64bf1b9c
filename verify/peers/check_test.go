package peers_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// errBoom is what tasks of the cases fail with; errLate is another such error.
var (
	errBoom = errors.New("boom")
	errLate = errors.New("late")
)

// ok fails the test on an error. It may be called by any goroutine.
func ok(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

// isError fails the test unless err is target.
func isError(t testing.TB, err, target error) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Errorf("got error %v, want %v", err, target)
	}
}

// equal fails the test unless got is want.
func equal[T comparable](t testing.TB, what string, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// caught returns what f panics with, or nil.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// over reports whether the channel is closed.
func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// begin calls f on a goroutine of its own, and returns a channel that is closed when f has
// returned.
func begin(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// childEnv has the name of a case in a process which only runs that case, see child.
const childEnv = "WEIR_PEERS_CHILD"

// inChild reports whether the process was started by child.
func inChild() bool { return os.Getenv(childEnv) != "" }

// child runs the calling test alone, in a process of its own where inChild is true, and returns
// what it wrote and how it ended. Only a case that is Outside may call it.
func child(t *testing.T) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), childEnv+"=1",
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // it would sleep for a second at its end
	out, err := cmd.CombinedOutput()
	return string(out), err
}
