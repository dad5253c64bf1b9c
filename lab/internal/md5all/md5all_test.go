package md5all_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/lab/internal/md5all"
)

type program = func(ctx context.Context, root string) (map[string][md5.Size]byte, error)

// each runs f for every program with several numbers of digesters.
func each(t *testing.T, f func(t *testing.T, run program)) {
	for _, p := range md5all.Programs() {
		for _, digesters := range []int{1, 2, 20} {
			t.Run(fmt.Sprintf("%s/%d", p.Name, digesters), func(t *testing.T) {
				f(t, func(ctx context.Context, root string) (map[string][md5.Size]byte, error) {
					return p.Run(ctx, root, digesters)
				})
			})
		}
	}
}

// tree makes a folder of n files in nested folders, some of them empty, and a
// symbolic link to a file and one to a folder.
func tree(t *testing.T, n int) (root string) {
	t.Helper()
	root = t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("not below the root"), 0o600))
	folder := root
	for i := range n {
		if i%40 == 39 {
			folder = filepath.Join(folder, "deeper")
			must(t, os.Mkdir(folder, 0o700))
		}
		content := bytes.Repeat([]byte{byte(i)}, i%7*1000)
		must(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d", i)), content, 0o600))
	}
	must(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	must(t, os.Symlink(outside, filepath.Join(root, "link to a file")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(root, "link to a folder")))
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plainly is the task without any concurrency.
func plainly(t *testing.T, root string) map[string][md5.Size]byte {
	t.Helper()
	sums := make(map[string][md5.Size]byte)
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		sums[path] = md5.Sum(data)
		return err
	}))
	return sums
}

func TestSumsAreThoseOfAPlainLoop(t *testing.T) {
	root := tree(t, 300)
	want := plainly(t, root)
	if len(want) != 300 {
		t.Fatalf("%d files", len(want))
	}
	each(t, func(t *testing.T, run program) {
		got, err := run(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d sums, not the %d of a plain loop", len(got), len(want))
		}
	})
}

func TestAnEmptyFolderHasNoSums(t *testing.T) {
	root := t.TempDir()
	each(t, func(t *testing.T, run program) {
		if got, err := run(t.Context(), root); err != nil || got == nil || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestAMissingRootIsAnError(t *testing.T) {
	root := filepath.Join(t.TempDir(), "missing")
	each(t, func(t *testing.T, run program) {
		if got, err := run(t.Context(), root); got != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d sums, %v", len(got), err)
		}
	})
}

func TestAFileThatCannotBeReadIsAnErrorThatEndsTheWalk(t *testing.T) {
	root := tree(t, 300)
	first := filepath.Join(root, "000")
	must(t, os.Chmod(first, 0))
	want := error(nil)
	if _, err := os.ReadFile(first); err != nil {
		want = fs.ErrPermission
	} else {
		// This user may read everything: take a regular file that no user can read, where
		// there is one.
		root = "/proc/self/mem"
		entry, err := os.Lstat(root)
		if err != nil || !entry.Mode().IsRegular() {
			t.Skip("this user can read everything")
		}
		if _, err := os.ReadFile(root); err == nil {
			t.Skip("this user can read everything")
		}
	}
	each(t, func(t *testing.T, run program) {
		got, err := run(t.Context(), root)
		if path, ok := errors.AsType[*fs.PathError](err); !ok || path.Err == nil || got != nil {
			t.Errorf("%d sums, %v", len(got), err)
		}
		if want != nil && !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	})
}

func TestTheFirstErrorCancelsWhatIsLeft(t *testing.T) {
	root := tree(t, 300)
	for _, p := range md5all.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			broken := errors.New("broken")
			digested, restore := md5all.Before(func(number int64) error {
				if number == 1 {
					return broken
				}
				time.Sleep(time.Millisecond) // of real time: some of the libraries crash in a test bubble
				return nil
			})
			defer restore()
			got, err := p.Run(t.Context(), root, 2)
			if got != nil || !errors.Is(err, broken) {
				t.Errorf("%d sums, %v", len(got), err)
			}
			if n := digested(); n > 100 {
				t.Errorf("%d of 300 files were tried, though the first had failed", n)
			}
		})
	}
}

func TestACancelledContextEndsTheRunSoonAndLeavesNothing(t *testing.T) {
	root := tree(t, 300)
	stop := errors.New("stop")
	before := runtime.NumGoroutine()
	each(t, func(t *testing.T, run program) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		if got, err := run(ctx, root); got != nil || !errors.Is(err, stop) {
			t.Errorf("cancelled before: %d sums, %v", len(got), err)
		}
	})
	for _, p := range md5all.Programs() {
		t.Run(p.Name+"/midway", func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			const at = 50
			digested, restore := md5all.Before(func(number int64) error {
				if number == at {
					cancel(stop)
				}
				return nil
			})
			defer restore()
			got, err := p.Run(ctx, root, 2)
			if got != nil || !errors.Is(err, stop) {
				t.Errorf("%d sums, %v", len(got), err)
			}
			// A digester that has looked at the context already takes one more file.
			if n := digested(); n > at+10 {
				t.Errorf("%d files were digested, of which %d after the cancellation", n, n-at)
			}
		})
	}
	deadline := time.Now().Add(5 * time.Second) // some libraries end their workers after the program
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left over", runtime.NumGoroutine()-before)
		}
		time.Sleep(time.Millisecond) // of real time: some of the libraries crash in a test bubble
	}
}

func TestEveryLibraryHasAProgram(t *testing.T) {
	var libraries []string
	for _, p := range md5all.Programs() {
		library, _, _ := strings.Cut(p.Name, ".")
		libraries = append(libraries, library)
	}
	slices.Sort(libraries)
	want := []string{"ants", "conc", "errgroup", "go", "gopool", "pond", "weir", "workerpool"}
	if got := slices.Compact(libraries); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
