package sum_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

// find lists the regular files at or below the paths as find -P does, without regard to order or memory.
func find(t *testing.T, paths ...string) []string {
	t.Helper()
	var files []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		check.Must(t, err)
		if info.Mode().IsRegular() {
			files = append(files, path)
		}
		if !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(path)
		check.Must(t, err)
		if !strings.HasSuffix(path, "/") {
			path += "/"
		}
		for _, e := range entries {
			files = append(files, find(t, path+e.Name())...)
		}
	}
	return files
}

func TestWalkOrderIsThatOfTheSortedFullPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"a/b/c": "", "a/b.c": "", "a/b!": "", "a/b-/x": "", "a/bb/d": "", "a/b0/e": "", "a/b/\x01": "", "a/b/\xc3\xa9": "", "a/z": "",
		"a-": "", "a.x/f": "", "a0": "", "b/f": "", "B/f": "", "-": "", "-x/y": "", "é/é": "", "new\nline/f": "", " /f": "", //nolint:gocritic // A blank is a name too.
	})
	for _, dir := range []string{"none", "b/none", "a/b/none/none"} {
		check.Must(t, os.MkdirAll(dir, 0o777))
	}
	for link, target := range map[string]string{"a/dirlink": "../b", "a/filelink": "z", "dangling": "nowhere", "loop": "loop", "dirlink": "a"} {
		check.Must(t, os.Symlink(target, link))
	}
	check.Must(t, makeSpecial("a/special"))
	abs, err := os.Getwd()
	check.Must(t, err)
	for _, paths := range [][]string{
		{"."}, {"./"}, {"a"}, {"a/"}, {"a//"}, {"./a"}, {"a/../a"}, {abs}, {"a0"}, {"./-"}, {"none"},
		{"dirlink"}, {"dirlink/"}, {"a/filelink"}, {"dangling"}, {"loop"}, {"a/special"},
		{"a", "b"}, {"b", "a"}, {"a", "a"}, {"a", "a/b"}, {"a/b", "a", "a/b/c"}, {"a", "a-", "a.x", "a0"}, {"a0", "a/", "a.x", "a-", "a"},
		{".", "a", "./a", abs, "b/f", "é", "new\nline", " "}, {"-x", "B"},
	} {
		t.Run(strings.Join(paths, " "), func(t *testing.T) {
			want := find(t, paths...)
			slices.Sort(want)
			got := slices.Collect(sum.Walk(paths))
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			const script = `find "$@" -type f -print0 | LC_ALL=C sort -z`
			if strings.HasPrefix(paths[0], "-") {
				return // which find takes for an option
			}
			if reference, ok := shell(t, []string{"find", "sort"}, script, paths...); ok {
				if list := strings.Join(append(want, ""), "\x00"); reference.out != list {
					t.Errorf("find and sort give %q, want %q", reference.out, list)
				}
			}
		})
	}
}

func TestWalkLooksAtManyPathsOneAfterTheOther(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a/1": "", "b/1": "", "c/1": ""})
	for path := range sum.Walk([]string{"c", "a", "b"}) {
		if path != "a/1" {
			t.Fatalf("the first path is %q", path)
		}
		// What comes later has not been opened yet.
		check.Must(t, os.RemoveAll("c"))
		write(t, map[string]string{"c/2": ""})
		break
	}
	var got []string
	for path := range sum.Walk([]string{"c", "a", "b"}) {
		if len(got) == 0 {
			write(t, map[string]string{"c/3": ""})
		}
		got = append(got, path)
	}
	if want := []string{"a/1", "b/1", "c/2", "c/3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestADirectoryThatCannotBeReadIsOneLine(t *testing.T) {
	// A path that is too long for the system can be made step by step, and can't be read even by root.
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a": "x", "z": "x"})
	name := strings.Repeat("d", 200)
	root, err := os.OpenRoot(".")
	check.Must(t, err)
	for range 30 {
		check.Must(t, root.Mkdir(name, 0o777))
		below, err := root.OpenRoot(name)
		check.Must(t, err)
		check.Must(t, root.Close())
		root = below
	}
	check.Must(t, root.Close())

	r := digest(t, defaults, "", ".")
	complaint, rest, _ := strings.Cut(r.errs, "\n")
	if rest != "" || !strings.HasPrefix(complaint, "weir: ./ddd") || !strings.HasSuffix(complaint, "ddd: "+message(syscall.ENAMETOOLONG)) {
		t.Errorf("standard error: %q", r.errs)
	}
	result{out: r.out, err: r.err}.expect(t, lines(md5s["x"]+"  %s\n", "./a", "./z"), "", sum.ErrFailed)
}
