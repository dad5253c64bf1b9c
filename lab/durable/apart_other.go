//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

// apart does nothing on systems without Unix process groups.
func apart(*exec.Cmd) {}

// unprivileged is for Unix only.
func unprivileged(*exec.Cmd, string) error { return errors.ErrUnsupported }
