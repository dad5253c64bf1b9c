//go:build !unix

package sum

import "io"

// isHungUp learns nothing before the next write on this system.
func isHungUp(io.Writer) bool { return false }
