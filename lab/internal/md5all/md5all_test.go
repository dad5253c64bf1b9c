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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/md5all"
	"github.com/64ed045f/weir/lab/internal/noleak"
)

func TestMain(m *testing.M) { noleak.Main(m) }

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

// files is how many files a tree has.
const files = 300

// tree makes a folder of files in nested folders, some of them empty, and a symbolic link to a file and one to a
// folder.
func tree(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	check.OK(t, os.WriteFile(outside, []byte("not below the root"), 0o600))
	folder := root
	for i := range files {
		if i%40 == 39 {
			folder = filepath.Join(folder, "deeper")
			check.OK(t, os.Mkdir(folder, 0o700))
		}
		content := bytes.Repeat([]byte{byte(i)}, i%7*1000)
		check.OK(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d", i)), content, 0o600))
	}
	check.OK(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	check.OK(t, os.Symlink(outside, filepath.Join(root, "link to a file")))
	check.OK(t, os.Symlink(filepath.Dir(outside), filepath.Join(root, "link to a folder")))
	return root
}

// plainly is the task without any concurrency.
func plainly(t *testing.T, root string) map[string][md5.Size]byte {
	t.Helper()
	sums := make(map[string][md5.Size]byte)
	check.OK(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
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
	root := tree(t)
	want := plainly(t, root)
	check.Equal(t, "files", len(want), files)
	each(t, func(t *testing.T, run program) {
		for root, want := range map[string]map[string][md5.Size]byte{root: want, t.TempDir(): {}} {
			if got, err := run(t.Context(), root); err != nil || got == nil || !maps.Equal(got, want) {
				t.Errorf("%d sums, not the %d of a plain loop (%v)", len(got), len(want), err)
			}
		}
	})
}

func TestARunThatCannotBeginEndsAtOnce(t *testing.T) {
	root := tree(t)
	stop := errors.New("stop")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	each(t, func(t *testing.T, run program) {
		if got, err := run(t.Context(), filepath.Join(root, "missing")); got != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without a root: %d sums, %v", len(got), err)
		}
		if got, err := run(ended, root); got != nil || !errors.Is(err, stop) {
			t.Errorf("with a context that has ended: %d sums, %v", len(got), err)
		}
	})
}

func TestWhatEndsARunCancelsWhatIsLeft(t *testing.T) {
	root := tree(t)
	stop := errors.New("stop")
	for _, p := range md5all.Programs() {
		for name, c := range map[string]struct {
			at, most int64 // files: the one that ends the run, and those that may be tried in all
			end      func(cancel context.CancelCauseFunc) error
		}{
			"an error": {1, 100, func(context.CancelCauseFunc) error { return stop }},
			// A digester that has looked at the context already takes one more file.
			"the context": {50, 60, func(cancel context.CancelCauseFunc) error { cancel(stop); return nil }},
		} {
			t.Run(p.Name+"/"+name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				tried, restore := md5all.Before(func(number int64) error {
					if number == c.at {
						return c.end(cancel)
					}
					time.Sleep(time.Millisecond) // of real time: some of the libraries crash in a test bubble
					return nil
				})
				defer restore()
				if got, err := p.Run(ctx, root, 2); got != nil || !errors.Is(err, stop) {
					t.Errorf("%d sums, %v", len(got), err)
				}
				if n := tried(); n > c.most {
					t.Errorf("%d of 300 files were tried, and file %d ended the run", n, c.at)
				}
			})
		}
	}
}

func TestEveryLibraryHasAProgram(t *testing.T) {
	var libraries []string
	for _, p := range md5all.Programs() {
		library, _, _ := strings.Cut(p.Name, ".")
		libraries = append(libraries, library)
	}
	slices.Sort(libraries)
	check.Equal(t, "libraries", strings.Join(slices.Compact(libraries), " "), "ants conc errgroup go gopool pond weir workerpool")
}
