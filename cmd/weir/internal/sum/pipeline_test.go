package sum_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
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
		if err := <-finished; err != nil {
			t.Error(err)
		}
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
		check(t, opts, list, "-").expect(t, strings.Repeat("f: OK\n", 10), "", nil)
	})
	if most.Load() != 3 {
		t.Errorf("up to %d files were read at once, want 3", most.Load())
	}
}
