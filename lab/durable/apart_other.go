//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

// apart does nothing where there are no process groups of the Unix kind.
func apart(*exec.Cmd) {}

// unprivileged is for Unix.
func unprivileged(*exec.Cmd, string) error { return errors.ErrUnsupported }
