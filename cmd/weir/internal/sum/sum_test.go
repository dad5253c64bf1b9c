package sum_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// md5s are the digests of the contents that the tests write.
var md5s = map[string]string{
	"":      "d41d8cd98f00b204e9800998ecf8427e",
	"x":     "9dd4e461268c8034f5c8564e155c67a6",
	"hello": "5d41402abc4b2a76b9719d911017c592",
}

// defaults are the options of the command without flags.
var defaults = sum.Options{Algorithm: "md5", Workers: 2}

// A result is what a command did.
type result struct {
	out, errs string
	err       error
}

func digest(t *testing.T, opts sum.Options, stdin string, paths ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	err := sum.Digest(t.Context(), opts, sum.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}, paths)
	return result{out.String(), errs.String(), err}
}

// expect compares what a command did with what it should have done.
func (r result) expect(t *testing.T, out, errs string, err error) {
	t.Helper()
	if r.out != out {
		t.Errorf("standard output:\n%q, want\n%q", r.out, out)
	}
	if r.errs != errs {
		t.Errorf("standard error:\n%q, want\n%q", r.errs, errs)
	}
	if !errors.Is(r.err, err) {
		t.Errorf("error %v, want %v", r.err, err)
	}
}

// write makes files with their contents in the current directory.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		check.Must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		check.Must(t, os.WriteFile(name, []byte(content), 0o666))
	}
}

// lines builds what is expected of files that all contain x.
func lines(format string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, format, name)
	}
	return b.String()
}

// shell runs a pipeline of the system's tools, if all of them are here.
func shell(tb testing.TB, tools []string, script string, args ...string) (result, bool) {
	tb.Helper()
	for _, tool := range append(tools, "sh") {
		if _, err := exec.LookPath(tool); err != nil {
			tb.Logf("no %s here to compare with", tool)
			return result{}, false
		}
	}
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return result{out.String(), errs.String(), err}, true
}

func TestDigestPrintsWhatMD5SumPrints(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"t/a/z": "x", "t/a.c": "x", "t/a b": "x", "t/a-b/c": "x", "t/a0": "x",
		"t/empty": "", "t/new\nline": "x", "t/back\\slash": "x", "t/return\r": "x", "t/ lead": "x", "t/trail ": "x",
		"t/-dash": "x", "t/*": "x", "t/tab\t": "x", "t/😀/é": "hello", "t/all\\\n\r": "x", "t/\\n": "x", "t/.hidden/.f": "x",
	})
	want := "" +
		"9dd4e461268c8034f5c8564e155c67a6  t/ lead\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/*\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/-dash\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/.hidden/.f\n" +
		"\\9dd4e461268c8034f5c8564e155c67a6  t/\\\\n\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/a b\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/a-b/c\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/a.c\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/a/z\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/a0\n" +
		"\\9dd4e461268c8034f5c8564e155c67a6  t/all\\\\\\n\\r\n" +
		"\\9dd4e461268c8034f5c8564e155c67a6  t/back\\\\slash\n" +
		"d41d8cd98f00b204e9800998ecf8427e  t/empty\n" +
		"\\9dd4e461268c8034f5c8564e155c67a6  t/new\\nline\n" +
		"\\9dd4e461268c8034f5c8564e155c67a6  t/return\\r\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/tab\t\n" +
		"9dd4e461268c8034f5c8564e155c67a6  t/trail \n" +
		"5d41402abc4b2a76b9719d911017c592  t/😀/é\n"
	digest(t, defaults, "", "t").expect(t, want, "", nil)
	digest(t, sum.Options{Algorithm: "md5", Workers: 17}, "", "t").expect(t, want, "", nil)

	// Names that only some file systems can hold come without a golden line.
	const notUTF8 = "t/not \xff\xfe utf-8"
	if err := os.WriteFile(notUTF8, []byte("x"), 0o666); err == nil {
		if !strings.Contains(digest(t, defaults, "", "t").out, lines("9dd4e461268c8034f5c8564e155c67a6  %s\n", notUTF8)) {
			t.Errorf("%q is missing or not to the byte", notUTF8)
		}
	}
	for _, tool := range []string{"md5", "sha1", "sha256", "sha512"} {
		const script = `find t -type f -print0 | LC_ALL=C sort -z | xargs -0 "$1"`
		if reference, ok := shell(t, []string{"find", "sort", "xargs", tool + "sum"}, script, tool+"sum"); ok && isCoreutils9(t) {
			digest(t, sum.Options{Algorithm: sum.Algorithm(tool), Workers: 3}, "", "t").expect(t, reference.out, "", nil)
		}
	}
}

func TestEachAlgorithmGivesItsDigest(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "hello"})
	for algorithm, want := range map[string]string{
		"md5":    "5d41402abc4b2a76b9719d911017c592",
		"sha1":   "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
		"sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		"sha512": "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
	} {
		digest(t, sum.Options{Algorithm: sum.Algorithm(algorithm), Workers: 1}, "", "f").expect(t, want+"  f\n", "", nil)
	}
	var a sum.Algorithm
	if err := a.Set("crc32"); err == nil {
		t.Error("crc32 was accepted")
	}
}

func TestStandardInputIsDigestedOnceInItsPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"+": "x", "a": "x"})
	digest(t, defaults, "hello", "a", "-", "+", "-").expect(t, ""+
		md5s["x"]+"  +\n"+
		md5s["hello"]+"  -\n"+
		md5s[""]+"  -\n"+
		md5s["x"]+"  a\n", "", nil)
}

func TestJSONIsOneObjectALine(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a\n<b>": "x", "c": ""})
	opts := defaults
	opts.JSON = true
	want := `{"path":"a\n<b>","algorithm":"md5","digest":"9dd4e461268c8034f5c8564e155c67a6","size":1}
{"path":"c","algorithm":"md5","digest":"d41d8cd98f00b204e9800998ecf8427e","size":0}
`
	digest(t, opts, "", "c", "a\n<b>").expect(t, want, "", nil)

	// The opener makes a name that this file system may not be able to hold.
	write(t, map[string]string{"list": md5s["x"] + "  n\xff\n" + md5s["x"] + "  c\n" + md5s["x"] + "  none\n"})
	opts = opts.WithOpen(func(path string) (io.ReadCloser, error) {
		if path == "n\xff" {
			return io.NopCloser(strings.NewReader("x")), nil
		}
		return os.Open(path)
	})
	want = `{"path":"n\ufffd","path_base64":"bv8=","algorithm":"md5","digest":"9dd4e461268c8034f5c8564e155c67a6","size":1,"result":"OK"}
{"path":"c","algorithm":"md5","digest":"d41d8cd98f00b204e9800998ecf8427e","size":0,"result":"FAILED"}
{"path":"none","algorithm":"md5","result":"FAILED open or read"}
`
	checked(t, opts, "", "list").expect(t, want, ""+
		"weir: none: No such file or directory\n"+
		"weir: WARNING: 1 listed file could not be read\n"+
		"weir: WARNING: 1 computed checksum did NOT match\n", sum.ErrFailed)
}

// broken fails at some reads, and never ends at others.
func broken(path string) (io.ReadCloser, error) {
	switch filepath.Base(path) {
	case "denied":
		return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	case "rotten":
		return io.NopCloser(io.MultiReader(strings.NewReader("x"), rotten{})), nil
	case "endless":
		return io.NopCloser(endless{}), nil
	}
	return os.Open(path)
}

type rotten struct{}

func (rotten) Read([]byte) (int, error) { return 0, syscall.EIO }

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestWhatCannotBeReadIsOneLineAndTheRestGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"d/a": "x", "d/denied": "x", "d/e": "x", "d/rotten": "x", "d/z": "x", "f": "x"})
	digest(t, defaults.WithOpen(broken), "", "d", "no\nfile", "f", "f/", "").expect(t,
		lines(md5s["x"]+"  %s\n", "d/a", "d/e", "d/z", "f"),
		"weir: '': No such file or directory\n"+
			"weir: d/denied: Permission denied\n"+
			"weir: d/rotten: Input/output error\n"+
			"weir: f/: Not a directory\n"+
			"weir: 'no'$'\\n''file': No such file or directory\n", sum.ErrFailed)
}

func TestFailFastPrintsWhatPrecedesTheFailureAndCancelsTheRest(t *testing.T) {
	for _, failing := range []string{"denied", "rotten", "missing"} {
		t.Run(failing, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, map[string]string{"a": "x", "b": "", "denied": "", "rotten": "", "z/endless": ""})
			opts := defaults.WithOpen(broken)
			opts.FailFast = true
			r := digest(t, opts, "", "z", failing, "b", "a")
			want := md5s["x"] + "  a\n" + md5s[""] + "  b\n"
			if !errors.Is(r.err, sum.ErrFailed) || r.out != want || strings.Count(r.errs, "\n") != 1 || !strings.HasPrefix(r.errs, "weir: "+failing+": ") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestCancellationStopsInTheMiddleOfAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"endless": ""})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	opts := defaults.WithOpen(func(string) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(readFunc(func([]byte) (int, error) {
			cancel(cause)
			return 0, io.EOF
		}), endless{})), nil
	})
	var out, errs bytes.Buffer
	err := sum.Digest(ctx, opts, sum.Streams{Out: &out, Err: &errs}, []string{"endless"})
	result{out.String(), errs.String(), err}.expect(t, "", "", cause)
}

type readFunc func(b []byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

type writeFunc func(b []byte) (int, error)

func (f writeFunc) Write(b []byte) (int, error) { return f(b) }

func TestDigestAndCheckEndWhenOutputCannotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "x", "endless": "", "list": md5s["x"] + "  f\n"})
	for _, c := range []struct {
		name          string
		failure       error
		errs          string
		digest, check error // what the commands return
	}{
		{"closed pipe", syscall.EPIPE, "", nil, sum.ErrFailed},
		{"full disk", syscall.ENOSPC, "weir: write error: No space left on device\n", sum.ErrFailed, sum.ErrFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := writeFunc(func([]byte) (int, error) {
				return 0, &os.PathError{Op: "write", Path: "stdout", Err: c.failure}
			})
			var errs bytes.Buffer
			streams := sum.Streams{Out: full, Err: &errs}
			// The line of f is written while the other file is read, and ends it.
			err := sum.Digest(t.Context(), defaults.WithOpen(broken), streams, []string{"./f", "endless"})
			result{"", errs.String(), err}.expect(t, "", c.errs, c.digest)
			errs.Reset()
			err = sum.Check(t.Context(), defaults, streams, "list")
			result{"", errs.String(), err}.expect(t, "", c.errs, c.check)
		})
	}
}

func TestAClosedPipeIsNoticedBeforeAComplaint(t *testing.T) {
	t.Chdir(t.TempDir())
	r, w, err := os.Pipe()
	check.Must(t, err)
	defer w.Close()
	check.Must(t, r.Close())
	var errs bytes.Buffer
	err = sum.Digest(t.Context(), defaults, sum.Streams{Out: w, Err: &errs}, []string{"missing"})
	if err != nil || errs.Len() > 0 {
		t.Errorf("got %v and %q, want neither an error nor a line", err, &errs)
	}
}

func TestMemoryDoesNotDependOnTheSizeOfAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"sparse": ""})
	check.Must(t, os.Truncate("sparse", 128<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	check.Must(t, sum.Digest(t.Context(), defaults, sum.Streams{Out: io.Discard, Err: io.Discard}, []string{"sparse"}))
	runtime.ReadMemStats(&after)
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(4*sum.ReadSize+1<<20); got > limit {
		t.Errorf("%d bytes were allocated for a file of 128 MiB, want at most %d", got, limit)
	}
}

// isCoreutils9 reports whether md5sum is the one whose rules are taken over here. Releases before 9 know no carriage returns, and other makers know other options.
func isCoreutils9(tb testing.TB) bool {
	tb.Helper()
	version, ok := shell(tb, []string{"md5sum"}, "md5sum --version")
	return ok && strings.HasPrefix(version.out, "md5sum (GNU coreutils) 9.")
}

// needCoreutils9 skips a test that only compares.
func needCoreutils9(tb testing.TB) {
	tb.Helper()
	if !isCoreutils9(tb) {
		tb.Skip("there is no md5sum of coreutils 9 to compare with")
	}
}
