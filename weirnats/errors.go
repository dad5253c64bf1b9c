package weirnats

import (
	"errors"
	"fmt"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

var (
	// ErrClosed is returned by the methods of a [Queue], an [Admin] and a [View] after Close has begun.
	ErrClosed = errors.New("weirnats: queue is closed")

	// ErrFull is returned by [Queue.TryPut] when the queue holds as much as [MaxMessages] or [MaxBytes]
	// allows.
	ErrFull = backend.ErrFull

	// ErrInUse is what [errors.Is] finds in the error of [Open] when another process has the folder open.
	// That error is an [*InUseError].
	ErrInUse = errors.New("weirnats: folder is in use")

	// ErrLost is the cause of a try's context when its lease could not be renewed: another process may have
	// the message.
	ErrLost = errors.New("weirnats: lease is lost")

	// ErrRunLimit is the cause of a try's context when the try has taken as long as [RunLimit] allows.
	ErrRunLimit = errors.New("weirnats: try has taken too long")

	// ErrNotFound is returned when there is no dead letter with that ID.
	ErrNotFound = backend.ErrNotFound

	// ErrGone is returned by [Queue.Serve] and by other methods if the queue does not exist on the server any
	// more.
	ErrGone = backend.ErrGone
)

// InUseError says which process has the folder of an embedded server open.
type InUseError struct {
	// Dir is the folder.
	Dir string
	// PID is the number of the process, or 0 if it is not known.
	PID int

	err error
}

// Error names the folder and the process.
func (e *InUseError) Error() string { return e.err.Error() }

// Is reports whether target is [ErrInUse].
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// SettingsError is the error of [Open] when the queue exists with another setting. Open has changed nothing
// then.
type SettingsError struct {
	// Queue is the name of the queue.
	Queue string
	// Setting is the setting that differs: mostly the name of an [Option].
	Setting string
	// Want is what the options of Open say. Have is what the queue was made with.
	Want, Have string
}

// Error says what differs.
func (e *SettingsError) Error() string {
	return fmt.Sprintf("weirnats: queue %s exists with another setting: %s is %s there, not %s", e.Queue, e.Setting, e.Have, e.Want)
}

// TooLargeError is the error of a Put whose value is too large for the server, or for an empty queue with its
// [MaxBytes].
type TooLargeError struct {
	// Size is the size of the encoded value in bytes. Limit is the largest that is possible; -1 if an empty
	// queue has no room for what the server keeps with the value, such as its [ID].
	Size, Limit int
}

// Error says how large the value is, and how large it may be.
func (e *TooLargeError) Error() string {
	if e.Limit < 0 {
		return fmt.Sprintf("weirnats: value takes %d bytes, and what is kept with it alone is too large for the queue", e.Size)
	}
	return fmt.Sprintf("weirnats: value takes %d bytes, at most %d are possible", e.Size, e.Limit)
}

// DamagedError is the error of [Open] and [OpenAdmin] if a file of an embedded server is damaged. The damage
// is not the unfinished end of what was being written when the power failed, which would be cut off: whole
// messages follow it, which the server would drop. Nothing has changed then, and no queue of the folder can
// be opened. The package documentation says, under Repair, what to do.
type DamagedError struct {
	// File is the path of the file.
	File string
	// Offset is where in the file the unreadable part begins, in bytes.
	Offset int64
	// Err says what is wrong there.
	Err error

	err error
}

// Error names the file, and says what is wrong with it.
func (e *DamagedError) Error() string { return e.err.Error() }

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// BrokenError says that an embedded server cannot write its files, for example because the disk is full, or
// that the clock was set. The server starts again by itself when it can: it checks that every 10 s or more
// often. Then Put succeeds again, and Serve goes on. What Put has accepted is there. Messages that were done
// shortly before may come again.
type BrokenError struct {
	// Queue is the name of the queue.
	Queue string
	// Err is what the server reports.
	Err error
}

// Error names the queue, and says what the server reports.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("weirnats: queue %s: the embedded server starts anew: %v", e.Queue, e.Err)
}

// Unwrap returns Err.
func (e *BrokenError) Unwrap() error { return e.Err }

// TryError is what the pool's [weir.OnError] gets for each failed try, except a try that panicked or called
// [runtime.Goexit].
type TryError struct {
	// Queue is the name of the queue. ID is the [ID] that the message was put with.
	Queue, ID string
	// Try is the number of the try, from 1.
	Try int
	// Dead says that there is no other try: the message is a dead letter now.
	Dead bool
	// Err is what the function returned, the error of the codec, [ErrLost], or an error that says that the
	// process of the last try ended.
	Err error
}

// Error says which try of which message failed, and why.
func (e *TryError) Error() string {
	what, end := "a message", ""
	if e.ID != "" {
		what = fmt.Sprintf("message %q", e.ID)
	}
	if e.Dead {
		end = ", the last"
	}
	return fmt.Sprintf("weirnats: try %d%s of %s of queue %s: %v", e.Try, end, what, e.Queue, e.Err)
}

// Unwrap returns Err.
func (e *TryError) Unwrap() error { return e.Err }

// outward turns an error of a backend into one of this package.
func outward(queue string, err error) error {
	if err == nil || errors.Is(err, ErrFull) || errors.Is(err, ErrGone) || errors.Is(err, ErrNotFound) {
		return err
	}
	if s, ok := errors.AsType[*backend.SettingsError](err); ok {
		return &SettingsError{Queue: queue, Setting: s.Setting, Want: s.Want, Have: s.Have}
	}
	return fmt.Errorf("weirnats: queue %s: %w", queue, err)
}

// must panics with a rule of this package if the rule does not hold.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirnats: %s, got %v", rule, got))
	}
}
