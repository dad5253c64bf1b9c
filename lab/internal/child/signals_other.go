//go:build !unix

package child

import "os/exec"

// Apart does nothing on systems without Unix process groups.
func Apart(*exec.Cmd) {}

// ByHand always returns false here: no exit status reports signals.
func ByHand(*exec.ExitError) bool { return false }
