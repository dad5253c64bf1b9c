//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// folder returns a directory with a small file, and a sparse one that keeps a digester busy for a minute and more.
func folder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, size := range map[string]int64{"+small": 0, "huge": 64 << 30} {
		check.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		check.Must(t, os.Truncate(filepath.Join(dir, name), size))
	}
	return dir
}

func TestASignalStopsItWithin100Milliseconds(t *testing.T) {
	t.Chdir(folder(t))
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		path   string // that keeps it busy
		status int
	}{
		{"Ctrl-C in a huge file", syscall.SIGINT, "huge", 130},
		{"SIGTERM in a huge file", syscall.SIGTERM, "huge", 143},
		{"Ctrl-C in a read that blocks", syscall.SIGINT, "-", 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A machine with other things to do may be late now and then, but not each time.
			const tries = 5
			for try := 1; ; try++ {
				took := stop(t, c.signal, c.path, c.status)
				if took < 100*time.Millisecond {
					return
				}
				if try == tries {
					t.Fatalf("it took %v the last time", took)
				}
			}
		})
	}
}

// stop runs the tool, sends it the signal while it reads the path, and returns how long it took to end.
func stop(t *testing.T, signal syscall.Signal, path string, status int) time.Duration {
	t.Helper()
	cmd := tool(t, "sum", "+small", path)
	stdin, err := cmd.StdinPipe()
	check.Must(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	check.Must(t, err)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	check.Must(t, cmd.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "d41d8cd98f00b204e9800998ecf8427e  +small\n" {
		t.Errorf("the first line is %q, %v", line, err)
	}
	start := time.Now()
	check.Must(t, cmd.Process.Signal(signal))
	_ = cmd.Wait() // its status says more
	took := time.Since(start)
	if got := cmd.ProcessState.ExitCode(); got != status || errs.Len() > 0 {
		t.Errorf("status %d and %q on standard error, want status %d and nothing", got, &errs, status)
	}
	return took
}

func TestAClosedPipeEndsItQuietly(t *testing.T) {
	r, w, err := os.Pipe()
	check.Must(t, err)
	cmd := tool(t, "sum", "+small", "huge", "missing")
	cmd.Dir = folder(t)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	check.Must(t, cmd.Start())
	check.Must(t, w.Close())
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line != "d41d8cd98f00b204e9800998ecf8427e  +small\n" {
		t.Errorf("the first line is %q, %v", line, err)
	}
	check.Must(t, r.Close())
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("%v and %q on standard error, want neither", err, &errs)
	}
}
