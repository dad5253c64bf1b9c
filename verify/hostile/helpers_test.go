package hostile_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// patience ends a test that hangs, and decides nothing else.
const patience = 2 * time.Minute

// within ends the program, with all stacks, if f hangs; in a bubble at once.
func within(what string, f func()) {
	watchdog := time.AfterFunc(patience, func() {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", stacks[:runtime.Stack(stacks, true)])
		panic("for " + patience.String() + " in vain: " + what)
	})
	defer watchdog.Stop()
	f()
}

// until waits for an event that no channel announces. In a bubble a look at it costs only the bubble's time.
func until(what string, condition func() bool) {
	within(what, func() {
		for !condition() {
			time.Sleep(100 * time.Microsecond)
		}
	})
}

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func equal[T comparable](tb testing.TB, what string, got, want T) {
	if got != want {
		tb.Helper()
		tb.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// atMost fails the test if there is more of something than there may be.
func atMost[T int | int64](tb testing.TB, what string, got, limit T) {
	if got > limit {
		tb.Helper()
		tb.Errorf("%s: got %d, more than %d", what, got, limit)
	}
}

// journal keeps what a server logs.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}
