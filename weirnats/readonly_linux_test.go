package weirnats_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { //nolint:gochecknoinits // it adds a program to those that tests start
	children["readonly"] = childReadOnly
}

// childReadOnly opens the queue, and says what comes of it, where the folder is on a mount that is read-only for this process.
func childReadOnly() error {
	queues := filepath.Join(os.Getenv(childDir), "queues")
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(queues, queues, "", syscall.MS_BIND, ""),
		syscall.Mount("", queues, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""),
	); err != nil {
		fmt.Println("no mount:", err)
		return nil
	}
	return tellOfOpening()
}

// Open of a folder on a read-only mount says so, and changes nothing.
func TestAFolderOnAReadOnlyMountLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	queues := filepath.Join(dir, "queues")
	q := open[string](t, queues, "work", childOptions...)
	noError(t, q.Put(t.Context(), "x"))
	noError(t, q.Close())
	before := files(t, dir)

	c := command(t, "readonly", dir, "")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
	}
	if err := c.Start(); err != nil {
		t.Skip("this system allows no mounts: ", err)
	}
	said, err := io.ReadAll(c.out)
	noError(t, errors.Join(err, c.Wait()))
	switch answer, ready := strings.CutPrefix(string(said), "ready\n"); {
	case !ready:
		t.Skip("this system allows no mounts: ", string(said))
	case !strings.Contains(answer, queues) || !strings.Contains(answer, "read-only file system"):
		t.Errorf("error is %q", answer)
	}
	if !maps.Equal(files(t, dir), before) {
		t.Error("files have changed")
	}
	q = open[string](t, queues, "work", childOptions...)
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 1)
}
