package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

// place puts the test binary, which is the tool, into a directory under another name.
func place(t *testing.T, dir, name string) string {
	t.Helper()
	self, err := os.Executable()
	check.Must(t, err)
	in, err := os.Open(self)
	check.Must(t, err)
	defer in.Close()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o777)
	check.Must(t, err)
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	check.Must(t, out.Close())
	return path
}

// Here weir-top is the tool itself under that name, as its command sum shows whether arguments, input, output and exit status come through.
func TestTopRunsTheProgramNextToItOrInThePathAndPassesEverything(t *testing.T) {
	alone, path := t.TempDir(), t.TempDir()
	weir := place(t, alone, "weir")
	run := func(path string, args ...string) (out, errs string, status int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), weir, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("x"), &stdout, &stderr
		cmd.Env = append(os.Environ(), runVariable+"=1", "GORACE=atexit_sleep_ms=0", "PATH="+path)
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	}
	finds := func(path string) {
		t.Helper()
		if out, errs, status := run(path, "top", "sum", "--algorithm=md5", "-"); out != "9dd4e461268c8034f5c8564e155c67a6  -\n" || errs != "" || status != 0 {
			t.Errorf("%q, %q, status %d", out, errs, status)
		}
		if out, errs, status := run(path, "top", "sum", "none", "it's"); out != "" || strings.Count(errs, "No such file") != 2 || status != statusFailed {
			t.Errorf("%q, %q, status %d", out, errs, status)
		}
		if out, _, status := run(path, "top", "--help"); !strings.Contains(out, "weir sum") || status != 0 {
			t.Errorf("%q, status %d", out, status)
		}
	}

	out, errs, status := run(path, "top", "--once", "URL")
	if want := "go install github.com/64ed045f/weir/cmd/weir-top@latest\n"; out != "" || !strings.HasSuffix(errs, want) || status != statusFailed {
		t.Errorf("without the program: %q, %q, status %d", out, errs, status)
	}
	if out, errs, status := run(path, "help", "top"); !strings.Contains(out, "go install") || errs != "" || status != 0 {
		t.Errorf("help: %q, %q, status %d", out, errs, status)
	}
	place(t, path, topName)
	finds(path)
	place(t, alone, topName)
	finds("")
}
