package md5all_test

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	for _, p := range md5all.Programs {
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

// tree makes a folder of files in folders, with an empty file and an empty folder, and a symbolic link to a file and one to a
// folder. It returns the sums of the files.
func tree(t *testing.T) (root string, sums map[string][md5.Size]byte) {
	t.Helper()
	root = t.TempDir()
	sums, err := md5all.Plant(root, files-1)
	check.OK(t, err)
	deep, outside := filepath.Join(root, "a", "folder", "in a folder"), filepath.Join(t.TempDir(), "outside")
	empty := filepath.Join(deep, "empty")
	check.OK(t, errors.Join(
		os.MkdirAll(deep, 0o700), os.Mkdir(filepath.Join(root, "empty"), 0o700),
		os.WriteFile(empty, nil, 0o600), os.WriteFile(outside, []byte("not below the root"), 0o600),
		os.Symlink(outside, filepath.Join(root, "link to a file")), os.Symlink(filepath.Dir(outside), filepath.Join(root, "link to a folder")),
	))
	sums[empty] = md5.Sum(nil)
	return root, sums
}

func TestSumsAreThoseOfTheFiles(t *testing.T) {
	root, want := tree(t)
	check.Equal(t, "files", len(want), files)
	each(t, func(t *testing.T, run program) {
		for root, want := range map[string]map[string][md5.Size]byte{root: want, t.TempDir(): {}} {
			if got, err := run(t.Context(), root); err != nil || got == nil || !maps.Equal(got, want) {
				t.Errorf("%d sums, not the %d of the files (%v)", len(got), len(want), err)
			}
		}
	})
}

func TestARunThatCannotBeginEndsAtOnce(t *testing.T) {
	root, _ := tree(t)
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
	root, _ := tree(t)
	stop := errors.New("stop")
	for _, p := range md5all.Programs {
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
