//go:build !unix

package behaviour

import "os/exec"

// byHand reports nothing here: no exit status tells of signals.
func byHand(*exec.ExitError) bool { return false }
