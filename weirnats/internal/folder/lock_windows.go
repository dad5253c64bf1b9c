package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks one byte far beyond the end of the file. Windows lets no other process read a locked part, and
// the number of the process must be readable.
func lock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// unlock does nothing: closing the file releases the lock.
func unlock(*os.File) error { return nil }
