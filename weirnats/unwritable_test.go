//go:build unix

package weirnats_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// The tests of this file are of folders that cannot be written. Permissions do not stop root, so what tries that is a process of another user where root runs the tests.

var smallDisk = flag.String("disk", "", "fill the disk of this `folder`, which should be a small one, while messages are put and served in it")

func init() { //nolint:gochecknoinits // it adds programs to those that tests start
	children["opens"] = childOpens
	children["forbidden"] = func() error {
		return childUnwritable(setModes(os.Getenv(childDir), 0o555), setModes(os.Getenv(childDir), 0o700))
	}
	children["disk"] = func() error {
		filler := filepath.Join(os.Getenv(childDir), "queues", "filler")
		return childUnwritable(func() error { return fill(filler) }, func() error { return os.Remove(filler) })
	}
	children["full"] = func() error {
		var before syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			return err
		}
		full := before
		full.Cur = fullSize
		return childUnwritable(
			func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full) },
			func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) },
		)
	}
}

// fill writes a file until there is no room.
func fill(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for part := make([]byte, 1<<20); len(part) > 0; {
		if _, err := f.Write(part); err != nil {
			part = part[:len(part)/2]
		}
	}
	return f.Close()
}

const (
	// fullSize is the largest file that may be written while the disk is full. The server ends a file with messages at twice that.
	fullSize = 128 << 10
	// stranger is the user that a child becomes where root runs it, and no other user of the system.
	stranger = 65_123
)

// private returns a folder that is the child's alone. The child may pass through the one above.
func private(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() == 0 {
		noError(t, os.Chmod(filepath.Dir(dir), 0o711))
		noError(t, os.Chown(dir, stranger, stranger))
	}
	return dir
}

// becomeStranger makes the process one of another user, if it is one of root.
func becomeStranger() error {
	if os.Getuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgid(stranger), syscall.Setuid(stranger))
}

// setModes sets those of the folders of the queues.
func setModes(dir string, mode fs.FileMode) func() error {
	return func() error {
		var all []string
		err := filepath.WalkDir(filepath.Join(dir, "queues"), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				all = append(all, path)
			}
			return err
		})
		for _, path := range all {
			err = errors.Join(err, os.Chmod(path, mode))
		}
		return err
	}
}

// childUnwritable puts and serves, until Put says after spoil that the server cannot write, or has succeeded for a while; and again after mend, without another Open or Serve.
func childUnwritable(spoil, mend func() error) error {
	if err := becomeStranger(); err != nil {
		return err
	}
	p, err := openProgram(weirnats.Always, weirnats.MaxBytes(8*fullSize))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	puts, noMore := context.WithCancel(ctx)
	defer noMore()
	all := weir.NewGroup(context.Background(), 3)
	all.Go(func(context.Context) error { return p.serve(ctx) })
	var count, broken atomic.Int32
	var slowest atomic.Int64
	for i := range 2 {
		all.Go(func(context.Context) error {
			for j := 0; puts.Err() == nil; {
				id := fmt.Sprint(i, "-", j)
				began := time.Now()
				err := p.Put(puts, id+strings.Repeat(" ", 4000), weirnats.ID(id))
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				switch b, ok := errors.AsType[*weirnats.BrokenError](err); {
				case err == nil:
					if err := p.put.add(id); err != nil {
						return err
					}
					count.Add(1)
					j++
				case puts.Err() != nil:
				case !ok || b.Queue != "work":
					return fmt.Errorf("error of Put is %w", err)
				default:
					broken.Add(1)
					time.Sleep(time.Millisecond)
				}
			}
			return nil
		})
	}
	until := func(what string, is func() bool) error {
		for end := time.Now().Add(limit / 2); !is(); time.Sleep(time.Millisecond) {
			if all.Context().Err() != nil || time.Now().After(end) {
				cancel()
				return errors.Join(errors.New("not "+what), all.Wait())
			}
		}
		return nil
	}
	if err := until("put", func() bool { return count.Load() >= 50 }); err != nil {
		return err
	}
	if err := spoil(); err != nil {
		return err
	}
	// What the process may not write hinders the server only when that begins another file: until then Put succeeds.
	if err := until("broken", func() bool { return broken.Load() > 10 || count.Load() > 300 }); err != nil {
		return err
	}
	if err := mend(); err != nil {
		return err
	}
	enough := count.Load() + 200
	if err := until("put again", func() bool { return count.Load() >= enough }); err != nil {
		return err
	}
	noMore()
	if err := until("empty", func() bool {
		s, err := p.Stats(ctx)
		return err == nil && s.Messages == 0
	}); err != nil {
		return err
	}
	cancel()
	if took := time.Duration(slowest.Load()); took > limit/4 {
		return fmt.Errorf("a Put took %v", took)
	}
	fmt.Println("a Put took", time.Duration(slowest.Load()), "at most,", broken.Load(), "failed")
	return errors.Join(all.Wait(), p.Close())
}

// The folder is one that the process may not write for a while, or the disk is full, while messages are put and served.
func TestAFolderThatCannotBeWrittenForAWhileLosesNothing(t *testing.T) {
	names := []string{"forbidden", "full"}
	if *smallDisk != "" {
		names = append(names, "disk")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := private(t)
			if name == "disk" {
				on, err := os.MkdirTemp(*smallDisk, "")
				noError(t, errors.Join(err, os.Chown(on, stranger, stranger), os.Symlink(on, filepath.Join(dir, "queues"))))
				defer func() { noError(t, os.RemoveAll(on)) }()
			}
			c := start(t, name, dir, "")
			said, err := io.ReadAll(c.out)
			noError(t, errors.Join(err, c.Wait()))
			t.Logf("%s", said)
			if name != "forbidden" && strings.HasSuffix(string(said), " 0 failed\n") {
				t.Error("no Put has failed")
			}
			account(t, dir)
		})
	}
}

// childOpens opens the queue, and says what comes of it.
func childOpens() error {
	if err := becomeStranger(); err != nil {
		return err
	}
	return tellOfOpening()
}

func tellOfOpening() error {
	fmt.Println("ready")
	began := time.Now()
	p, err := openProgram()
	if err != nil {
		if took := time.Since(began); took > limit/4 {
			return fmt.Errorf("the error comes after %v", took)
		}
		fmt.Print(err)
		return nil
	}
	return errors.Join(p.Put(context.Background(), "x"), p.Close())
}

// Open of a folder that the process may not write, or that is another user's, says so, and changes nothing.
func TestAFolderThatCannotBeOpenedLosesNothing(t *testing.T) {
	t.Parallel()
	dir := private(t)
	queues := filepath.Join(dir, "queues")
	opens := func() string {
		c := start(t, "opens", dir, "")
		said, err := io.ReadAll(c.out)
		noError(t, errors.Join(err, c.Wait()))
		return string(said)
	}
	refused := func(what, reason string) {
		t.Helper()
		if said := opens(); !strings.Contains(said, queues) || !strings.Contains(said, reason) {
			t.Errorf("%s: error is %q", what, said)
		}
	}
	noError(t, os.Chmod(dir, 0o555))
	refused("a folder in which none can be made", "permission denied")
	noError(t, os.Chmod(dir, 0o700))
	equal(t, "error", opens(), "")
	before := files(t, dir)
	noError(t, setModes(dir, 0o555)())
	refused("folders that cannot be written", "permission denied")
	noError(t, setModes(dir, 0o700)())
	for path, reason := range map[string]string{
		queues: "permission denied", filepath.Join(queues, "store"): "operation not permitted",
		filepath.Join(queues, "store", "jetstream"): "storage directory is not writable",
	} {
		for _, mode := range []fs.FileMode{0, 0o700} {
			if mode > 0 && os.Getuid() != 0 {
				continue // another user's can be had by root alone
			}
			info, err := os.Stat(path)
			noError(t, err)
			noError(t, errors.Join(os.Chown(path, os.Getuid(), -1), os.Chmod(path, mode)))
			refused(fmt.Sprint(path, " is another user's, with mode ", mode), reason)
			noError(t, errors.Join(os.Chown(path, int(info.Sys().(*syscall.Stat_t).Uid), -1), os.Chmod(path, 0o700)))
		}
	}
	for name, text := range files(t, dir) {
		if before[name] != text && filepath.Base(name) != "weir.lock" {
			t.Errorf("%s has changed", name)
		}
	}
	equal(t, "error", opens(), "")
}
