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
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/md5all"
	"github.com/64ed045f/weir/lab/internal/noleak"
)

func TestMain(m *testing.M) { noleak.Main(m) }

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

func TestSumsAreThoseOfAllFilesUnlessSomethingEndsTheRun(t *testing.T) {
	root, sums := tree(t)
	check.Equal(t, "files", len(sums), files)
	stop := errors.New("stop")
	for _, p := range md5all.Programs {
		for name, c := range map[string]struct {
			root  string
			sums  map[string][md5.Size]byte
			err   error
			at    int64 // the file that ends the run, counted from 1; if it is 0, the context has ended before
			fails bool  // by an error, and not by the end of the context
		}{
			"nothing":                  {root: root, sums: sums, at: -1},
			"nothing, and no file":     {root: t.TempDir(), sums: map[string][md5.Size]byte{}, at: -1},
			"no root":                  {root: filepath.Join(root, "missing"), err: fs.ErrNotExist, at: -1},
			"an error":                 {root: root, err: stop, at: 1, fails: true},
			"the context":              {root: root, err: stop, at: 50},
			"a context that has ended": {root: root, err: stop},
		} {
			for _, digesters := range []int{1, 2, 20} {
				t.Run(fmt.Sprintf("%s/%s/%d", p.Name, name, digesters), func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					if c.at == 0 {
						cancel(stop)
					}
					var tried atomic.Int64
					got, err := md5all.RunWith(p, ctx, c.root, digesters, func(path string) ([md5.Size]byte, error) {
						switch n := tried.Add(1); {
						case n == c.at && c.fails:
							return [md5.Size]byte{}, stop
						case n == c.at:
							cancel(stop)
						case c.at > 0:
							time.Sleep(time.Millisecond) // of real time: some of the libraries crash in a test bubble
						}
						return md5all.DigestFile(path)
					})
					if !errors.Is(err, c.err) || (got == nil) != (c.sums == nil) || !maps.Equal(got, c.sums) {
						t.Errorf("%d sums, not the %d of the files (%v)", len(got), len(c.sums), err)
					}
					most := c.at + int64(digesters) + 8 // a digester that has looked at the context already takes one more file
					if c.fails {
						most = 100 // between an error and its consequences other goroutines may come
					}
					if n := tried.Load(); c.err != nil && n > most {
						t.Errorf("%d of %d files were tried, and file %d ended the run", n, files, c.at)
					}
				})
			}
		}
	}
}
