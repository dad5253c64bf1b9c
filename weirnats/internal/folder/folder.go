// Package folder makes the folder of an embedded server, and locks it: two servers on one folder would both
// accept messages, and lose each other's.
package folder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// InUseError says that a process has the folder open.
type InUseError struct {
	// Dir is the folder.
	Dir string
	// PID is the number of the process; 0 if it is not known.
	PID int
}

// Error names the folder and the process.
func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("weirnats: folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("weirnats: folder %s is in use by process %d", e.Dir, e.PID)
}

// errLocked is what lock returns while another process has the lock.
var errLocked = errors.New("locked")

// lockName is the file that is locked. It stays after Unlock: a process that removed it could remove the file
// that the next process has locked.
const lockName = "weir.lock"

// Folder is a folder that this process has locked.
type Folder struct {
	// Path is the folder, absolute and without symbolic links.
	Path string
	lock *os.File
}

// Resolve makes the folder, readable only for its owner if it is new, and returns its absolute path without
// symbolic links.
func Resolve(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Lock locks the folder at that path, which Resolve has returned, until Unlock, or until the process ends in
// whatever way. The error is an [*InUseError] if another process has locked it.
func Lock(path string) (*Folder, error) {
	name := filepath.Join(path, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("weirnats: lock folder: %w", err)
	}
	if err := lock(f); err != nil {
		defer f.Close()
		if errors.Is(err, errLocked) {
			return nil, &InUseError{Dir: path, PID: readPID(f)}
		}
		return nil, fmt.Errorf("weirnats: lock %s: %w", name, err)
	}
	if err := writePID(f); err != nil {
		defer f.Close()
		return nil, fmt.Errorf("weirnats: write %s: %w", name, err)
	}
	return &Folder{Path: path, lock: f}, nil
}

// Unlock lets the next process lock the folder.
func (f *Folder) Unlock() error { return errors.Join(unlock(f.lock), f.lock.Close()) }

// Sub returns the path of a folder within this one, readable only for its owner. It makes the folder if
// necessary.
func (f *Folder) Sub(name string) (string, error) {
	path := filepath.Join(f.Path, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o700)
}

// Write replaces a file as a whole. Whatever happens, even to the machine, the file has the old text or the new
// one, and it has the new one once Write has returned nil.
func Write(name string, text []byte) error {
	next := name + ".tmp" // the name that the server uses
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, name); err != nil || runtime.GOOS == "windows" { // which syncs no folder
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns the number that the process with the lock has written, or 0 if it has not written one yet.
func readPID(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}
