package sum_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

// A screen keeps all that was ever drawn.
type screen struct {
	mu    sync.Mutex
	drawn bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.String()
}

func TestBarShowsFilesBytesRateAndTimeLeft(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"d/a": strings.Repeat("x", 1<<20), "d/b/c": strings.Repeat("x", 3<<20), "d/e": ""})
	synctest.Test(t, func(t *testing.T) {
		s := new(screen)
		bar := sum.DrawBar(s, []string{"d"})
		time.Sleep(3500 * time.Millisecond) // of the bubble
		bar.Done(1 << 20)
		time.Sleep(500 * time.Millisecond)
		for _, want := range []string{"0/3 files", "1/3 files", "1.0 MiB / 4.0 MiB", "KiB/s", "11s left"} {
			if !strings.Contains(s.String(), want) {
				t.Errorf("%q was never shown in\n%s", want, s)
			}
		}
		bar.Done(3 << 20)
		bar.Done(0)
		bar.Stop()
		if !strings.Contains(s.String(), "3/3 files  4.0 MiB / 4.0 MiB") {
			t.Errorf("the end was never shown in\n%s", s)
		}
		if want := "\n3 files, 4.0 MiB in 4s, 1.0 MiB/s\n"; !strings.HasSuffix("\n"+lastLines(s.String()), want) {
			t.Errorf("the summary is not %q in\n%s", want, s)
		}
	})
}

func TestTheSummaryCountsFilesThatWereReadToTheirEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a": "xyz"})
	for _, c := range []struct {
		stopped bool
		want    string
	}{{false, "1 file, 3.0 b in "}, {true, "0 files, 0.0 b in "}} {
		s := new(screen)
		bar := sum.DrawBar(s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		if c.stopped {
			cancel()
		}
		bar.Digest(ctx, sum.Options{Algorithm: "md5"}, "a")
		cancel()
		bar.Stop()
		if line := lastLines(s.String()); !strings.HasPrefix(line, c.want) {
			t.Errorf("stopped %t: the summary is %q, want %q", c.stopped, line, c.want)
		}
	}
}

func TestLinesAboveTheBarAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(screen)
		bar := sum.DrawBar(s, nil)
		for _, part := range []string{"first li", "ne\nsecond line\nth", "ird", " line\n"} {
			if n, err := bar.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("Write returned %d, %v", n, err)
			}
			time.Sleep(time.Second) // of the bubble, in which the bar is drawn again
		}
		bar.Stop()
		for _, line := range []string{"first line\n", "second line\n", "third line\n"} {
			if strings.Count(s.String(), line) != 1 {
				t.Errorf("%q is not there once in\n%s", line, s)
			}
		}
	})
}

// lastLines is what stands on the screen below the place where the bar was.
func lastLines(drawn string) string {
	return drawn[strings.LastIndex(drawn, "\x1b[J")+len("\x1b[J"):]
}
