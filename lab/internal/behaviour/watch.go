package behaviour

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

var errBoom = errors.New("boom")

// gauge counts the tasks that run at once.
type gauge struct {
	check.Gauge
	ended atomic.Int64
}

func (g *gauge) end() {
	g.Leave()
	g.ended.Add(1)
}

// task returns a task that takes d.
func (g *gauge) task(d time.Duration) func() {
	return func() {
		g.Enter()
		time.Sleep(d)
		g.end()
	}
}

// until waits for a condition that must soon be true, and reports whether it was.
func until(condition func() bool) bool {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		if condition() {
			return true
		}
		time.Sleep(5 * time.Millisecond) // a condition may be costly
	}
	return condition()
}

// gate is a task that runs until it is opened.
type gate struct{ started, opened chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}), make(chan struct{})} }

func (g *gate) task() {
	close(g.started)
	<-g.opened
}

func (g *gate) open() { close(g.opened) }

// settled is long enough for a goroutine to get where it blocks.
const settled = 50 * time.Millisecond

// told returns the error that call returns, or its panic as an error.
func told(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			text, _, _ := strings.Cut(fmt.Sprint(p), "\n") // a stack may follow
			err = errors.New("panic: " + text)
		}
	}()
	return call()
}

// returned fails unless err is the error that the call should have returned.
func returned(call string, err, want error) error {
	switch {
	case errors.Is(err, want):
		return nil
	case err == nil:
		return fmt.Errorf("%s returned nil", call)
	default:
		return fmt.Errorf("%s returned the error %w", call, err)
	}
}

// errNotTold means that a wait did not report tasks that called runtime.Goexit.
var errNotTold = errors.New("the wait returned nil, as if all tasks had succeeded")

// count fails unless got equals want.
func count[N int | int32 | int64](what string, got, want N) error {
	if got != want {
		return fmt.Errorf("%s: %d, not %d", what, got, want)
	}
	return nil
}
