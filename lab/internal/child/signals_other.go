//go:build !unix

package child

import "os/exec"

// apart does nothing where there are no process groups of the Unix kind.
func apart(*exec.Cmd) {}

// ByHand reports nothing here: no exit status tells of signals.
func ByHand(*exec.ExitError) bool { return false }
