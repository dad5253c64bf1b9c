package weir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A test named TestPromiseNN holds the promise of that number in the package
// documentation. It is meant to fail when the rule behind the promise is broken,
// and was seen to.

// goroutinesAtStart is how many there are before the first test: what the
// import of the package has started, and the main goroutine.
var goroutinesAtStart int

func TestMain(m *testing.M) {
	goroutinesAtStart = runtime.NumGoroutine()
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		return
	}
	code := m.Run()
	if code == 0 {
		if stacks := leftGoroutines(); stacks != "" {
			fmt.Fprintf(os.Stderr, "goroutines left behind by the tests:\n%s\n", stacks)
			code = 1
		}
	}
	os.Exit(code)
}

// leftGoroutines returns the stacks of all goroutines if there are more than
// the main one. The default pool's are no leak: nobody can close it.
func leftGoroutines() string {
	left := func() bool { return runtime.NumGoroutine() > 1+weir.Default().Stats().Workers }
	if check.Tries(1<<20, func() bool { return !left() }) {
		return ""
	}
	return check.Stacks()
}

// noWorkers fails the test if workers are left. Those that are about to end get
// the time for it: a goroutine that has nothing more to do is still counted.
func noWorkers(t testing.TB) {
	t.Helper()
	if !check.Tries(1<<12, func() bool { return workerGoroutines() == 0 }) {
		t.Errorf("workers are left:\n%s", check.Stacks())
	}
}

// yield lets others run so many times.
func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

// eventually is for what needs no time, only others' turns.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !check.Tries(1<<20, condition) {
		t.Errorf("never came: %s", what)
	}
}

// goroutines counts those there are. [runtime.NumGoroutine] takes thousands that have ended
// for alive while the garbage collector frees their stacks: what it says may
// be waited for, but proves nothing at any one moment.
func goroutines() int { return strings.Count(check.Stacks(), "\n\n") + 1 }

// workerGoroutines counts the goroutines that run the engine or were started by it.
func workerGoroutines() int {
	n := 0
	for stack := range strings.SplitSeq(check.Stacks(), "\n\n") {
		if strings.Contains(stack, "created by github.com/64ed045f/weir/internal/engine") {
			n++
		}
	}
	return n
}

// valve holds tasks until they are let go.
type valve struct {
	out            chan struct{}
	started, ended atomic.Int64
}

func newValve() *valve { return &valve{out: make(chan struct{})} }

// task is a task that blocks at the valve.
func (v *valve) task() {
	v.started.Add(1)
	<-v.out
	v.ended.Add(1)
}

// member is task for a group.
func (v *valve) member(context.Context) error {
	v.task()
	return nil
}

// letOne lets one of the blocked tasks go.
func (v *valve) letOne() { v.out <- struct{}{} }

// open lets all go, also those that come later.
func (v *valve) open() { close(v.out) }

func (v *valve) running() int { return int(v.started.Load() - v.ended.Load()) }

// block makes n tasks on the pool that run, and block at the valve it returns.
// In a bubble only.
func block(t testing.TB, p *weir.Pool, n int) *valve {
	t.Helper()
	v := newValve()
	for range n {
		check.OK(t, p.Submit(v.task))
	}
	synctest.Wait()
	check.Equal(t, "blocked tasks", v.running(), n)
	return v
}

func nothing() {}

var errBoom = errors.New("boom")

func explode() { panic(errBoom) }

func explodeInGroup(context.Context) error { panic(errBoom) }

func exitInGroup(context.Context) error {
	runtime.Goexit()
	return nil
}

func succeed(context.Context) error { return nil }

// untilCancelled is a task that ends with its group.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func queueName(n int) string {
	if n == weir.Unbounded {
		return "unbounded"
	}
	return fmt.Sprint(n)
}
