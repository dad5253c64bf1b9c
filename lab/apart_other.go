//go:build !unix

package main

import "os/exec"

// apart does nothing where there are no process groups of the Unix kind.
func apart(*exec.Cmd) {}
