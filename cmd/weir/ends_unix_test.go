//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// ends waits for the tool for at most half a minute, and then kills it.
func ends(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() {
		t.Errorf("weir %q does not end", cmd.Args[1:])
	}
}

// (echo WRONG-DIGEST  f; sleep 1000) | weir sum --fail-fast -c -
func TestFailFastEndsThoughTheListGoesOnLater(t *testing.T) {
	t.Parallel()
	cmd := tool(t, "sum", "--fail-fast", "--check", "-")
	cmd.Dir = folder(t)
	stdin, err := cmd.StdinPipe()
	check.Must(t, err)
	defer stdin.Close()
	check.Must(t, cmd.Start())
	if _, err := io.WriteString(stdin, strings.Repeat("0", 32)+"  +small\n"); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd)
	if got := cmd.ProcessState.ExitCode(); got != statusFailed {
		t.Errorf("status %d, want %d", got, statusFailed)
	}
}

// sleep 1000 | weir sum +small - | head -1
func TestAClosedPipeEndsItWhileItReadsStandardInput(t *testing.T) {
	t.Parallel()
	cmd := tool(t, "sum", "+small", "-")
	cmd.Dir = folder(t)
	stdin, err := cmd.StdinPipe()
	check.Must(t, err)
	defer stdin.Close()
	r, w, err := os.Pipe()
	check.Must(t, err)
	cmd.Stdout = w
	check.Must(t, cmd.Start())
	_ = w.Close()
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Error(err)
	}
	_ = r.Close()
	ends(t, cmd)
}

// sh -c 'weir sum - & …': a shell without job control starts background jobs with SIGINT ignored, and Ctrl-C does not end them.
func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	self, err := os.Executable()
	check.Must(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap "" INT; exec "$0" sum +small -`, self)
	cmd.Dir = folder(t)
	cmd.Env = append(os.Environ(), runVariable+"=1", "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	check.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Error(err)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = stdin.Close()
	ends(t, cmd)
	if got := cmd.ProcessState.ExitCode(); got != statusOK {
		t.Errorf("status %d, want %d", got, statusOK)
	}
}
