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

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		return
	}
	code := m.Run()
	if code == 0 && !check.Tries(1<<20, func() bool { return goroutines() == 0 }) {
		fmt.Fprintf(os.Stderr, "goroutines left behind by the tests:\n%s\n", check.Stacks())
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

// goroutines counts those that groups have started.
func goroutines() int {
	return strings.Count(check.Stacks(), "\ncreated by github.com/64ed045f/weir/errgroup.(*Group)")
}

// noneLeft fails the test if goroutines of groups are left. Those that are about to
// end get the time for it: they are still counted.
func noneLeft(t testing.TB) {
	t.Helper()
	if !check.Tries(1<<12, func() bool { return goroutines() == 0 }) {
		t.Errorf("goroutines are left:\n%s", check.Stacks())
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
