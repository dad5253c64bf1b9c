//go:build unix

package sum_test

import "syscall"

// makeSpecial makes a file that is not a regular one, and whose opening would block.
func makeSpecial(path string) error { return syscall.Mkfifo(path, 0o666) }
