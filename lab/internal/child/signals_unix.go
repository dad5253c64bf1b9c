//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Apart puts the process into a group of its own. A Ctrl-C at the terminal goes to a whole group, and a
// measurement that it ended would look like a failure.
func Apart(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
