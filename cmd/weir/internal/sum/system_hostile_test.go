//go:build linux

package sum_test

import (
	"context"
	"crypto/md5" //nolint:gosec // As weir sum.
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

var (
	folderSize = flag.Int("files", 10_000, "how many files stand in the large folder")
	depth      = flag.Int("levels", 300, "how deep the deepest folder is; from 2048 on it is too deep for Linux")
)

func TestADeviceThatNeverEndsIsReadUntilTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	reads := 0
	opts := defaults.WithOpen(func(path string) (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{readFunc(func(b []byte) (int, error) {
			if reads++; reads == 100 {
				cancel(cause)
			}
			return f.Read(b)
		}), f}, nil
	})
	err := sum.Check(ctx, opts, sum.Streams{In: strings.NewReader(md5s["x"] + "  /dev/zero\n"), Out: io.Discard, Err: io.Discard}, "-")
	if !errors.Is(err, cause) || reads > 101 {
		t.Errorf("got %v after %d reads, want %v after 100", err, reads, cause)
	}
}

func TestFilesOfTheKernelAreReadWhateverSizeTheyClaim(t *testing.T) {
	const path = "/proc/version"
	content, err := os.ReadFile(path)
	check.Must(t, err)
	digest(t, defaults, "", path).expect(t, fmt.Sprintf("%x  %s\n", md5.Sum(content), path), "", nil)          //nolint:gosec // As weir sum.
	digest(t, defaults, "", "/proc/self/mem", path).expect(t, fmt.Sprintf("%x  %s\n", md5.Sum(content), path), //nolint:gosec // As weir sum.
		"weir: /proc/self/mem: "+message(syscall.EIO)+"\n", sum.ErrFailed)
}

func TestADiskThatIsFullIsAFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "x", "list": md5s["x"] + "  f\n"})
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	check.Must(t, err)
	defer full.Close()
	var errs strings.Builder
	streams := sum.Streams{Out: full, Err: &errs}
	for name, err := range map[string]error{
		"Digest": sum.Digest(t.Context(), defaults, streams, []string{"f", "f", "f"}),
		"Check":  sum.Check(t.Context(), defaults, streams, "list"),
	} {
		if !errors.Is(err, sum.ErrFailed) {
			t.Errorf("%s returned %v", name, err)
		}
	}
	if want := strings.Repeat("weir: write error: "+message(syscall.ENOSPC)+"\n", 2); errs.String() != want {
		t.Errorf("standard error: %q", errs.String())
	}
}

// The system limits the length of a path, and so the walk: what is below gets a line or two, and all else is digested.
func TestADeepTreeIsDigestedAsFarAsPathsReach(t *testing.T) {
	levels := *depth
	t.Chdir(t.TempDir())
	write(t, map[string]string{"t/a": "x", "t/z": "x"})
	dir, err := os.OpenRoot("t")
	check.Must(t, err)
	for range levels {
		err := errors.Join(dir.Mkdir("d", 0o777), dir.WriteFile("f", []byte("x"), 0o666))
		check.Must(t, err)
		below, err := dir.OpenRoot("d")
		check.Must(t, err)
		dir.Close() //nolint:errcheck // Nothing was written.
		dir = below
	}
	dir.Close() //nolint:errcheck // Nothing was written.

	r := digest(t, defaults, "", "t")
	want := md5s["x"] + "  t/a\n"
	for path := "t" + strings.Repeat("/d", levels); path != ""; path = strings.TrimSuffix(path, "d") {
		path = strings.TrimSuffix(path, "/")
		if file := path + "/f"; len(file) < syscall.PathMax && path != "t"+strings.Repeat("/d", levels) {
			want += md5s["x"] + "  " + file + "\n"
		}
		if path == "t" {
			break
		}
	}
	want += md5s["x"] + "  t/z\n"
	if r.out != want {
		t.Errorf("%d lines, want %d", strings.Count(r.out, "\n"), strings.Count(want, "\n"))
	}
	if levels < syscall.PathMax/2 {
		r.expect(t, want, "", nil)
		return
	}
	complaints := strings.Count(r.errs, "\n")
	if complaints < 1 || complaints > 2 || strings.Count(r.errs, ": "+message(syscall.ENAMETOOLONG)+"\n") != complaints || !errors.Is(r.err, sum.ErrFailed) {
		t.Errorf("%d lines on standard error, %v", complaints, r.err)
	}
}

func TestEachOfManyFilesInAFolderIsDigested(t *testing.T) {
	n := *folderSize
	if testing.Short() {
		n = min(n, 2_000)
	}
	t.Chdir(t.TempDir())
	write(t, map[string]string{"t/file": "x"})
	var want strings.Builder
	for i := range n {
		name := fmt.Sprintf("t/%07d", i)
		fmt.Fprintf(&want, "%s  %s\n", md5s["x"], name)
		// A file can have only so many names.
		if err := os.Link("t/file", name); err != nil {
			check.Must(t, os.WriteFile(name, []byte("x"), 0o666))
		}
	}
	digest(t, defaults, "", "t").expect(t, want.String()+md5s["x"]+"  t/file\n", "", nil)
}

// descriptors tells a process that is this test how many it may have. With fewer than ten Go's runtime gives up by itself.
const descriptors = "WEIR_TEST_DESCRIPTORS"

func TestWithoutFileDescriptorsEachFileIsDigestedOrOneLine(t *testing.T) {
	if limit := os.Getenv(descriptors); limit != "" {
		starve(t, limit)
		return
	}
	t.Chdir(t.TempDir())
	const files = 300
	for i := range files {
		write(t, map[string]string{fmt.Sprintf("t/%03d", i): "x"})
	}
	self, err := os.Executable()
	check.Must(t, err)
	for _, limit := range []int{12, 16, 100} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), descriptors+"="+strconv.Itoa(limit))
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("with %d descriptors: %v\n%s%s", limit, err, out.String(), errs.String())
		}
		good, bad := strings.Count(out.String(), md5s["x"]+"  t/"), strings.Count(errs.String(), ": "+message(syscall.EMFILE)+"\n")
		if good+bad != files && (good != 0 || bad != 1) { // else the folder itself could not be opened
			t.Errorf("with %d descriptors %d files were digested, and %d could not be opened, of %d:\n%s", limit, good, bad, files, errs.String())
		}
		if limit == 100 && good != files {
			t.Errorf("with %d descriptors %d files were digested", limit, good)
		}
	}
}

// starve digests the tree with as many descriptors as there may be, and more workers.
func starve(t *testing.T, limit string) {
	n, err := strconv.ParseUint(limit, 10, 64)
	check.Must(t, err)
	check.Must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}))
	opts := sum.Options{Algorithm: "md5", Workers: 32}
	err = sum.Digest(t.Context(), opts, sum.Streams{Out: os.Stdout, Err: os.Stderr}, []string{"t"})
	if err != nil && !errors.Is(err, sum.ErrFailed) {
		t.Error(err)
	}
}
