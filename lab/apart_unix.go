//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives the process a group of its own. A Ctrl-C at the terminal goes to a
// whole group: a measurement that it ended would look like one that has failed.
func apart(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
