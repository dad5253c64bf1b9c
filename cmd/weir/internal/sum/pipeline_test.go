package sum_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

func TestAStuckFileHoldsBackTheOthersOnlyAtTheWindow(t *testing.T) {
	const files = sum.WindowSize + 1000
	var list strings.Builder
	for i := range files {
		fmt.Fprintf(&list, "%s  %d\n", md5s["x"], i)
	}
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var opened atomic.Int64
		opts := sum.Options{Algorithm: "md5", Workers: 2, Quiet: true}.WithOpen(func(path string) (io.ReadCloser, error) {
			opened.Add(1)
			if path == "0" {
				<-release
			}
			return io.NopCloser(strings.NewReader("x")), nil
		})
		var out, errs bytes.Buffer
		finished := make(chan error)
		go func() {
			finished <- sum.Check(t.Context(), opts, sum.Streams{In: strings.NewReader(list.String()), Out: &out, Err: &errs}, "-")
		}()
		synctest.Wait()
		// The window is full, and the printer holds the stuck one in its hand.
		if n := opened.Load(); n != sum.WindowSize+1 {
			t.Errorf("%d files were opened behind and with a stuck one, want %d", n, sum.WindowSize+1)
		}
		close(release)
		result{out.String(), errs.String(), <-finished}.expect(t, "", "", nil)
		if n := opened.Load(); n != files {
			t.Errorf("%d files were opened in all, want %d", n, files)
		}
	})
}

func TestFinishedLinesComeOutWhileTheNextTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		opts := defaults.WithOpen(func(path string) (io.ReadCloser, error) {
			if path == "stuck" {
				<-release
			}
			return io.NopCloser(strings.NewReader("x")), nil
		})
		list := strings.NewReader(lines(md5s["x"]+"  %s\n", "a", "b", "stuck"))
		var written atomic.Int64
		out := writeFunc(func(b []byte) (int, error) {
			written.Add(int64(len(b)))
			return len(b), nil
		})
		finished := make(chan error)
		go func() {
			finished <- sum.Check(t.Context(), opts, sum.Streams{In: list, Out: out, Err: io.Discard}, "-")
		}()
		time.Sleep(time.Second) // of the bubble
		if n := written.Load(); n != int64(len("a: OK\nb: OK\n")) {
			t.Errorf("%d bytes have been written", n)
		}
		close(release)
		check.OK(t, <-finished)
	})
}

func TestAsManyFilesAreReadAtOnceAsThereAreWorkers(t *testing.T) {
	var now, most atomic.Int64
	opts := sum.Options{Algorithm: "md5", Workers: 3}.WithOpen(func(string) (io.ReadCloser, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Second) // of the bubble
		now.Add(-1)
		return io.NopCloser(strings.NewReader("x")), nil
	})
	list := strings.Repeat(md5s["x"]+"  f\n", 10)
	synctest.Test(t, func(t *testing.T) {
		checked(t, opts, list, "-").expect(t, strings.Repeat("f: OK\n", 10), "", nil)
	})
	if most.Load() != 3 {
		t.Errorf("up to %d files were read at once, want 3", most.Load())
	}
}

func TestFailFastCancelsWhatIsBehindAFailureAtOnceAndNothingBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		after := func(d time.Duration, err error) io.ReadCloser {
			return io.NopCloser(readFunc(func([]byte) (int, error) {
				time.Sleep(d) // of the bubble
				return 0, err
			}))
		}
		var lastRead time.Duration // of the file behind the failures
		opts := sum.Options{Algorithm: "md5", Workers: 5, FailFast: true}.WithOpen(func(path string) (io.ReadCloser, error) {
			switch path {
			case "slow":
				return after(time.Hour, io.EOF), nil
			case "first in the list":
				return after(time.Minute, syscall.EIO), nil
			case "first in time":
				return after(time.Second, syscall.EIO), nil
			case "late": // must not move the end of the output back
				return after(1100*time.Millisecond, syscall.EIO), nil
			case "endless":
				return io.NopCloser(readFunc(func(b []byte) (int, error) {
					time.Sleep(300 * time.Millisecond)
					lastRead = time.Since(start)
					return len(b), nil
				})), nil
			}
			t.Errorf("%q was opened", path)
			return nil, syscall.ENOENT
		})
		list := lines(md5s[""]+"  %s\n", "slow", "first in the list", "first in time", "endless", "late", "never begun", "nor this one")
		checked(t, opts, list, "-").expect(t, "slow: OK\nfirst in the list: FAILED open or read\n",
			"weir: 'first in the list': Input/output error\nweir: WARNING: 1 listed file could not be read\n", sum.ErrFailed)
		if limit := 1200 * time.Millisecond; lastRead > limit {
			t.Errorf("a file behind the failure was read until %v, want at most %v", lastRead, limit)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("it took %v, want what the file before the failure needs, an hour", took)
		}
	})
}

// pieces keeps what is written to it at a time.
type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, bytes.Clone(b))
	return len(b), nil
}

func TestTheOutputIsWrittenInWholeLines(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var all pieces
		write := sum.Lines(&all, asJSON)
		for i := range 5000 {
			check.OK(t, write(strings.Repeat("x", i%100)))
		}
		for _, piece := range all {
			if !bytes.HasSuffix(piece, []byte("\n")) {
				t.Fatalf("a piece ends in %q", piece[max(0, len(piece)-40):])
			}
		}
		if len(all) < 3 {
			t.Errorf("there are %d pieces", len(all))
		}
	}
}
