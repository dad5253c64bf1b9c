package check

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// childEnv is the environment variable that names the child to run instead of the tests.
const childEnv = "WEIR_TEST_CHILD"

// Main runs the tests of a package, which fail if they leave a goroutine behind. If tidy is not nil, Main
// calls it after the tests, maybe more than once. tidy ends what outlives tests on purpose, and returns how
// many goroutines may stay.
//
// In a process that [Child] has started, Main runs one of children instead.
func Main(m *testing.M, children map[string]func(), tidy func() int) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		return
	}
	code := m.Run()
	kept := func() int { return 0 }
	if tidy != nil {
		kept = tidy
	}
	if code == 0 && !Tries(1<<20, func() bool { return runtime.NumGoroutine() <= 1+kept() }) && Goroutines("") > 1+kept() {
		fmt.Fprintf(os.Stderr, "goroutines left behind by the tests:\n%s\n", Stacks())
		code = 1
	}
	os.Exit(code)
}

// Child runs one of the children given to [Main] in a process of its own, and returns its output.
func Child(t testing.TB, name string) (output string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+name,
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // with the race detector, a program sleeps a second before it ends
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// Goroutines counts the goroutines that were started by functions whose full name begins with creator, or all
// if creator is empty. [runtime.NumGoroutine] takes thousands of ended goroutines for alive while the garbage
// collector frees their stacks. A test may wait for its number, but it proves nothing at any one moment.
func Goroutines(creator string) int {
	n := 0
	for stack := range strings.SplitSeq(Stacks(), "\n\n") {
		if creator == "" || strings.Contains(stack, "\ncreated by "+creator) {
			n++
		}
	}
	return n
}
