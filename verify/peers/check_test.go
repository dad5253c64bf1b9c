package peers_test

import (
	"errors"
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
