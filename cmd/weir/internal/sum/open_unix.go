//go:build unix

package sum

import "golang.org/x/sys/unix"

// A name that was a file or a directory in the walk may be something else when it is opened. A user who can
// write to its directory can replace it with a link, or with a pipe whose opening would wait forever.
const (
	openAsFile      = unix.O_NOFOLLOW | unix.O_NONBLOCK
	openAsDirectory = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_DIRECTORY
)
