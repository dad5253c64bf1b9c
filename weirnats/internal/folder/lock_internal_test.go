//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The process starts another one at the moment at which it unlocks the folder: until that runs its own program it has the descriptors of this one.
func TestAFolderIsUnlockedThoughAnotherProcessBegins(t *testing.T) {
	path, err := Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := unix.Dup(int(f.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Unlock(); err != nil {
		t.Error(err)
	}
	if err := unix.Close(other); err != nil {
		t.Error(err)
	}
}
