//go:build unix

package weirnats_test

import "syscall"

// suspend stops a process for a while.
func suspend(c *child) bool { return c.Process.Signal(syscall.SIGSTOP) == nil }

func resume(c *child) { _ = c.Process.Signal(syscall.SIGCONT) }
