//go:build unix

package sum_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

// replacements put something else in the place of a file, or of a directory, that was found before.
var replacements = []struct {
	name    string
	replace func(path string) error
	reason  string // why it is not digested
}{
	{"nothing", os.RemoveAll, "No such file or directory"},
	{"a directory", inPlace(func(path string) error { return os.MkdirAll(path+"/in", 0o777) }), "No longer a regular file"},
	{"a link to a file", inPlace(func(path string) error { return os.Symlink("a", path) }), message(syscall.ELOOP)},
	{"a dangling link", inPlace(func(path string) error { return os.Symlink("none", path) }), message(syscall.ELOOP)},
	{"a link to itself", inPlace(func(path string) error { return os.Symlink(path, path) }), message(syscall.ELOOP)},
	{"a pipe", inPlace(func(path string) error { return syscall.Mkfifo(path, 0o666) }), "No longer a regular file"},
	{"a link to a device", inPlace(func(path string) error { return os.Symlink("/dev/zero", path) }), message(syscall.ELOOP)},
}

func inPlace(put func(path string) error) func(path string) error {
	return func(path string) error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return put(path)
	}
}

func TestAFileThatIsReplacedBeforeItIsReadIsOneLine(t *testing.T) {
	for _, r := range replacements {
		t.Run(r.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, map[string]string{"a": "x", "b": "x", "c": "x"})
			opts := defaults.WithOpen(func(path string) (io.ReadCloser, error) {
				if path == "b" {
					check.OK(t, r.replace(path))
				}
				return sum.OpenFound(path)
			})
			digest(t, opts, "", "a", "b", "c").expect(t, lines(md5s["x"]+"  %s\n", "a", "c"), "weir: b: "+r.reason+"\n", sum.ErrFailed)
		})
	}
}

func TestADirectoryThatIsReplacedBeforeItIsReadHoldsUpNothing(t *testing.T) {
	for _, r := range replacements {
		if r.name == "a directory" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, map[string]string{"t/a": "x", "t/b/in": "x", "t/c": "x", "other/in": "x"})
			var got []string
			for path := range sum.Walk([]string{"t"}) {
				if got = append(got, path); path == "t/a" {
					check.Must(t, r.replace("t/b"))
				}
			}
			if want := []string{"t/a", "t/c"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A file that grows or shrinks has the digest of what was read; each byte is read once, to the end that there is then.
func TestAFileThatChangesWhileItIsReadHoldsUpNothing(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"grows":   {"", "hello", "hello"},
		"shrinks": {"hello", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, map[string]string{"a": "x", "b": c.before, "c": "x"})
			opts := defaults.WithOpen(func(path string) (io.ReadCloser, error) {
				f, err := sum.OpenFound(path)
				if path == "b" {
					write(t, map[string]string{"b": c.after})
				}
				return f, err
			})
			digest(t, opts, "", "a", "b", "c").expect(t, md5s["x"]+"  a\n"+md5s[c.want]+"  b\n"+md5s["x"]+"  c\n", "", nil)
		})
	}
}

// What is in the place of a file changes all the time, and the tree with it. Each result is a right digest or one of the reasons.
func TestFilesThatChangeAllTheTimeSpoilNoOther(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	t.Chdir(t.TempDir())
	write(t, map[string]string{"t/a": "x", "t/b": "x", "t/c/in": "x", "t/d": "x", "x": "x"})
	stop := make(chan struct{})
	var changer sync.WaitGroup
	changer.Go(func() {
		for i := 0; ; i++ {
			for _, path := range []string{"t/b", "t/c"} {
				select {
				case <-stop:
					return
				default:
				}
				_ = replacements[i%len(replacements)].replace(path) // others may be at it
				_ = os.RemoveAll(path)
				if path == "t/b" {
					_ = os.WriteFile(path, []byte("x"), 0o666)
				} else if os.Mkdir(path, 0o777) == nil {
					_ = os.WriteFile(path+"/in", []byte("x"), 0o666)
				}
			}
		}
	})
	for range rounds {
		r := digest(t, defaults, "", "t")
		for line := range strings.Lines(r.out) {
			sum, name, _ := strings.Cut(line, "  ")
			if name = strings.TrimSuffix(name, "\n"); sum != md5s["x"] && (sum != md5s[""] || name != "t/b" && name != "t/c/in") || !strings.HasPrefix(name, "t/") {
				t.Errorf("got %q", line)
			}
		}
		for _, name := range []string{"t/a", "t/d"} {
			if !strings.Contains(r.out, md5s["x"]+"  "+name+"\n") {
				t.Errorf("%s is missing in %q", name, r.out)
			}
		}
		for line := range strings.Lines(r.errs) {
			if !strings.HasPrefix(line, "weir: t/b") && !strings.HasPrefix(line, "weir: t/c") {
				t.Errorf("got %q", line)
			}
		}
		if want := r.errs != ""; errors.Is(r.err, sum.ErrFailed) != want {
			t.Errorf("error %v after %q", r.err, r.errs)
		}
	}
	close(stop)
	changer.Wait()
}

func TestWhatIsNoRegularFileIsPassedOverInATreeAndOnTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"t/a": "x", "t/z": "x"})
	for link, target := range map[string]string{"self": "self", "one": "two", "two": "one", "up": "..", "here": ".", "dangling": "none", "device": "/dev/zero"} {
		check.Must(t, os.Symlink(target, "t/"+link))
	}
	check.Must(t, syscall.Mkfifo("t/pipe", 0o666))
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check.Must(t, err)
	defer unix.Close(socket) //nolint:errcheck // Nothing was written.
	check.Must(t, unix.Bind(socket, &unix.SockaddrUnix{Name: "t/socket"}))
	want := lines(md5s["x"]+"  %s\n", "t/a", "t/z")
	digest(t, defaults, "", "t").expect(t, want, "", nil)
	digest(t, defaults, "", "t/self", "t/one", "t/up", "t/dangling", "t/device", "t/pipe", "t/socket", "/dev/zero", "/dev/null", "t/a", "t/z").expect(t, want, "", nil)

	// What a list names is meant, as by md5sum: a link is followed, and what can't be opened is a line.
	checked(t, defaults, md5s[""]+"  /dev/null\n"+md5s["x"]+"  t/self\n"+md5s["x"]+"  t/here/a\n", "-").expect(t,
		"/dev/null: OK\nt/self: FAILED open or read\nt/here/a: OK\n",
		"weir: t/self: "+message(syscall.ELOOP)+"\nweir: WARNING: 1 listed file could not be read\n", sum.ErrFailed)
}

// A file server that has a lease on a file gives it up when it is asked, and the first try to open the file asks.
func TestAFileWithALeaseIsDigestedOnceTheLeaseIsGivenUp(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "x"})
	tries := 0
	opts := defaults.WithOpen(func(path string) (io.ReadCloser, error) {
		if tries++; tries < 3 {
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EAGAIN}
		}
		return os.Open(path)
	})
	digest(t, opts, "", "f").expect(t, md5s["x"]+"  f\n", "", nil)
}
