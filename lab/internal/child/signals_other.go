//go:build !unix

package child

import "os/exec"

// Apart does nothing on systems without Unix process groups.
func Apart(*exec.Cmd) {}
