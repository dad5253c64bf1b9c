//go:build unix

package sum

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isHungUp reports whether w is a pipe without a reader. Without it only a write would show that, and there
// may be nothing to write.
func isHungUp(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	fds := []unix.PollFd{{}}
	n := 0
	err = conn.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd) //nolint:gosec // A file descriptor is an int32 to poll.
		n, _ = unix.Poll(fds, 0)
	})
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
