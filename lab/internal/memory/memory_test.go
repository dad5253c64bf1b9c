package memory_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/memory"
)

// size is how much memory the child of the test takes: more than the test does.
const size = 64 << 20

// TestMain is also the child, which takes its memory, says so, and waits for the end of its input.
func TestMain(m *testing.M) {
	if os.Getenv("CHILD") == "" {
		os.Exit(m.Run())
	}
	all := bytes.Repeat([]byte{1}, size)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it
	runtime.KeepAlive(all)
}

func TestTreeCountsAProcessAndItsChildren(t *testing.T) {
	before := memory.Tree(os.Getpid())
	if runtime.GOOS != "linux" && before == 0 {
		t.Skip("the kernel does not say")
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "CHILD=1")
	input, err := child.StdinPipe()
	check.Must(t, err)
	output, err := child.StdoutPipe()
	check.Must(t, err)
	check.Must(t, child.Start())
	_, err = io.ReadFull(output, make([]byte, len("ready\n")))
	check.Must(t, err)
	with, alone := memory.Tree(os.Getpid()), memory.Tree(child.Process.Pid)
	check.Must(t, input.Close())
	check.Must(t, child.Wait())
	if before == 0 || before >= size || alone < size || with < size+before/2 {
		t.Errorf("%d bytes before, %d with the child, which has %d", before, with, alone)
	}
}
