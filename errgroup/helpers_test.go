package errgroup_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/errgroup"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		return
	}
	code := m.Run()
	if code == 0 && !tries(1<<20, func() bool { return goroutines() == 0 }) {
		fmt.Fprintf(os.Stderr, "goroutines left behind by the tests:\n%s\n", stacks())
		code = 1
	}
	os.Exit(code)
}

// childEnv names one of children, which the test binary then runs instead of the tests.
const childEnv = "WEIR_ERRGROUP_TEST_CHILD"

// child runs one of children in a process of its own, and returns what it wrote.
func child(t *testing.T, name string) (output string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+name,
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // with the race detector, a program sleeps a second before it ends
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
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

// equal fails the test unless got is want.
func equal[T comparable](t testing.TB, what string, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// ok fails the test on an error.
func ok(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

// caught returns what f panics with.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
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

// goroutines counts those that groups have started.
func goroutines() int {
	return strings.Count(stacks(), "\ncreated by github.com/64ed045f/weir/errgroup.(*Group)")
}

// noneLeft fails the test if goroutines of groups are left. Those that are about to
// end get the time for it: they are still counted.
func noneLeft(t testing.TB) {
	t.Helper()
	if !tries(1<<12, func() bool { return goroutines() == 0 }) {
		t.Errorf("goroutines are left:\n%s", stacks())
	}
}

// limited returns a group with a limit, or without one if it is negative.
func limited(limit int) *errgroup.Group {
	g := new(errgroup.Group)
	g.SetLimit(limit)
	return g
}

// limits are those that most tests are run with.
var limits = []int{-1, 1, 2, 8, 1000}

// gauge tells how many functions run at once, and how many did at most.
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

// valve holds functions until they are let go.
type valve struct {
	out            chan struct{}
	started, ended atomic.Int64
}

func newValve() *valve { return &valve{out: make(chan struct{})} }

// hold blocks at the valve.
func (v *valve) hold() error {
	v.started.Add(1)
	<-v.out
	v.ended.Add(1)
	return nil
}

// letOne lets one of those that are blocked go.
func (v *valve) letOne() { v.out <- struct{}{} }

// open lets all go, also those that come later.
func (v *valve) open() { close(v.out) }

func (v *valve) running() int { return int(v.started.Load() - v.ended.Load()) }

var errBoom = errors.New("boom")

func succeed() error { return nil }

func fail() error { return errBoom }

func explode() error { panic(errBoom) }

func exit() error {
	runtime.Goexit()
	return nil
}
