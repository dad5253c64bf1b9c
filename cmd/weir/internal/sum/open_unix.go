//go:build unix

package sum

import "golang.org/x/sys/unix"

// What was found to be a file, or a directory, may be something else when it is opened: a user who can write to its
// directory can put a link in its place, or a pipe whose opening would wait forever.
const (
	openAsFile      = unix.O_NOFOLLOW | unix.O_NONBLOCK
	openAsDirectory = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_DIRECTORY
)
