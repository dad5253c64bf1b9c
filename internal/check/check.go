// Package check holds what the tests of all packages use. No product imports it.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Scale returns how often a hammer test repeats: full, or short under -short.
func Scale(full, short int) int { return Size(short, full, full) }

// ProofsEnv is the environment variable that, when it is set, makes tests do all they can, as in .ci/run proofs. Without it
// they leave out what takes too long for go test work.
const ProofsEnv = "WEIR_PROOFS"

// Size returns how much a test does: short under -short, and proof with [ProofsEnv].
func Size[N any](short, everyday, proof N) N {
	switch {
	case testing.Short():
		return short
	case os.Getenv(ProofsEnv) != "":
		return proof
	}
	return everyday
}

// NeedsProofs skips a test that runs only with [ProofsEnv], because of what it says here.
func NeedsProofs(t testing.TB, because string) {
	t.Helper()
	if os.Getenv(ProofsEnv) == "" {
		t.Skip(because + ": it runs with " + ProofsEnv + "=1, as in .ci/run proofs")
	}
}

// Bubble runs a subtest in a synctest bubble. The bubble ends only when all goroutines in it have ended, so
// each such subtest also finds goroutines left behind.
func Bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// OK fails the test on an error. Any goroutine may call it.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

// Must ends the test on an error. Only the goroutine of the test may call it.
func Must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Error fails the test unless err is target, as [errors.Is] has it.
func Error(t testing.TB, err, target error) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Errorf("got error %v, want %v", err, target)
	}
}

// Equal fails the test unless got equals want.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Panics fails the test unless f panics with want.
func Panics(t testing.TB, want string, f func()) {
	t.Helper()
	if got := Caught(f); got != want {
		t.Errorf("panicked with %v, want %q", got, want)
	}
}

// Caught returns the value with which f panics, or nil.
func Caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// Exits reports whether f ends its goroutine by [runtime.Goexit].
func Exits(f func()) bool {
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		returned = true
	}()
	<-done
	return !returned
}

// Sleep sleeps for d, or until ctx is done. It reports whether d is over and ctx was not done before.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Tries yields to other goroutines until the condition holds, at most n times. It reports whether the
// condition holds.
func Tries(n int, condition func() bool) bool {
	for range n {
		if condition() {
			return true
		}
		runtime.Gosched()
	}
	return condition()
}

// Within ends the program, after printing all stacks, if f takes longer than limit. It decides nothing else,
// so no test depends on the speed of the machine.
func Within(limit time.Duration, f func()) {
	watchdog := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s\n", Stacks())
		panic(fmt.Sprintf("a test hangs for %v", limit))
	})
	defer watchdog.Stop()
	f()
}

// Until yields to other goroutines until the condition holds. It is for what comes over the network. If the
// condition does not hold within a minute, Until ends the program.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	t.Log("until", what)
	Within(time.Minute, func() {
		for !condition() {
			runtime.Gosched()
		}
	})
}

// Stacks returns the stacks of all goroutines.
func Stacks() string {
	for buf := make([]byte, 1<<16); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}
