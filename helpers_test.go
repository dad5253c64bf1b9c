package weir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
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
	if tries(1<<20, func() bool { return !left() }) {
		return ""
	}
	return stacks()
}

// scale is how often a hammer strikes: less often under -short.
func scale(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// bubble runs a subtest in a synctest bubble.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// ok fails the test on an error. It may be called by any goroutine.
func ok(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

// wantError fails the test unless err is target.
func wantError(t testing.TB, err, target error) {
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

// mustPanic fails the test unless f panics with want.
func mustPanic(t testing.TB, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panicked with %v, want %q", got, want)
		}
	}()
	f()
}

// caught returns what f panics with.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// noWorkers fails the test if workers are left. Those that are about to end get
// the time for it: a goroutine that has nothing more to do is still counted.
func noWorkers(t testing.TB) {
	t.Helper()
	if !tries(1<<12, func() bool { return workerGoroutines() == 0 }) {
		t.Errorf("workers are left:\n%s", stacks())
	}
}

// tries lets others run until the condition holds, at most n times.
func tries(n int, condition func() bool) bool {
	for range n {
		if condition() {
			return true
		}
		runtime.Gosched()
	}
	return condition()
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
	if !tries(1<<20, condition) {
		t.Errorf("never came: %s", what)
	}
}

// within ends the program, with all stacks, if f hangs. It decides nothing else,
// so that no test depends on the speed of the machine.
func within(limit time.Duration, f func()) {
	watchdog := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s\n", stacks())
		panic(fmt.Sprintf("a test hangs for %v", limit))
	})
	defer watchdog.Stop()
	f()
}

func stacks() string {
	for buf := make([]byte, 1<<16); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}

// goroutines counts those there are. [runtime.NumGoroutine] takes thousands that have ended
// for alive while the garbage collector frees their stacks: what it says may
// be waited for, but proves nothing at any one moment.
func goroutines() int { return strings.Count(stacks(), "\n\n") + 1 }

// workerGoroutines counts the goroutines that run the engine or were started by it.
func workerGoroutines() int {
	n := 0
	for stack := range strings.SplitSeq(stacks(), "\n\n") {
		if strings.Contains(stack, "created by github.com/64ed045f/weir/internal/engine") {
			n++
		}
	}
	return n
}

// gauge tells how many tasks run at once, and how many did at most.
type gauge struct{ now, peak atomic.Int64 }

func (g *gauge) enter() {
	n := g.now.Add(1)
	for {
		peak := g.peak.Load()
		if n <= peak || g.peak.CompareAndSwap(peak, n) {
			return
		}
	}
}

func (g *gauge) leave() { g.now.Add(-1) }

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
		ok(t, p.Submit(v.task))
	}
	synctest.Wait()
	equal(t, "blocked tasks", v.running(), n)
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

// captureLog makes the default logger write to what it returns, until the test ends.
func captureLog(t *testing.T) *lockedBuffer {
	t.Helper()
	logger, out, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(out) // SetDefault turns it to slog, and never back
		log.SetFlags(flags)
	})
	b := new(lockedBuffer)
	slog.SetDefault(slog.New(slog.NewTextHandler(b, nil)))
	return b
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
