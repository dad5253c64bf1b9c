//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

// unprivileged is for Unix only.
func unprivileged(*exec.Cmd, string) error { return errors.ErrUnsupported }
