//go:build unix

package behaviour

import (
	"os/exec"
	"syscall"
)

// byHand reports whether the process ended as after a Ctrl-C at the terminal, or a
// plain kill.
func byHand(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}
