package weirnats_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func init() { //nolint:gochecknoinits // it adds a program to those that tests start
	children["backlog"] = childBacklog
}

const backlogCalls = 20_000

// childBacklog opens a queue in which very many messages wait, serves some of them, and says how long the one took, and how much memory it has had.
func childBacklog() error {
	to := weirnats.Dir(os.Getenv(childDir))
	if url := os.Getenv(childURL); url != "" {
		to = weirnats.Server(url)
	}
	fmt.Println("ready")
	began := time.Now()
	q, err := weirnats.Open[[]byte](context.Background(), "work", to, quiet, weirnats.MaxMessages(2_000_000))
	if err != nil {
		return err
	}
	took := time.Since(began)
	ctx, enough := context.WithTimeout(context.Background(), 10*time.Second)
	defer enough()
	p := weir.New(64)
	var calls atomic.Int64
	if err := q.Serve(ctx, p, func(context.Context, []byte) error {
		if calls.Add(1) == backlogCalls {
			enough()
		}
		return nil
	}); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println(took.Seconds(), peak) // and it ends without Close, as a program that is killed
	return nil
}

// BenchmarkBacklog measures what a process takes that opens a queue in which very many messages of 128 bytes wait, and serves some of them.
func BenchmarkBacklog(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d/server=embedded", n), func(b *testing.B) {
			dir := b.TempDir()
			fillBacklog(b, n, weirnats.Dir(dir))
			reportBacklog(b, dir, "") // from then on it was killed
			for b.Loop() {
				reportBacklog(b, dir, "")
			}
		})
		b.Run(fmt.Sprintf("waiting=%d/server=other", n), func(b *testing.B) {
			s := start(b, "server", b.TempDir(), "")
			defer s.kill()
			url, err := s.out.ReadString('\n')
			noError(b, err)
			url = strings.TrimSpace(url)
			fillBacklog(b, n, weirnats.Server(url))
			for b.Loop() {
				reportBacklog(b, filepath.Join(b.TempDir(), "none"), url)
			}
		})
	}
}

func fillBacklog(b *testing.B, n int, to weirnats.Option) {
	b.Helper()
	q, err := weirnats.Open[[]byte](b.Context(), "work", to, quiet, weirnats.MaxMessages(2_000_000))
	noError(b, err)
	values := make([][]byte, n)
	for i := range values {
		values[i] = payload
	}
	_, err = q.PutAll(b.Context(), values, nil)
	noError(b, err)
	noError(b, q.Close())
}

func reportBacklog(b *testing.B, dir, url string) {
	b.Helper()
	c := start(b, "backlog", dir, url)
	said, err := io.ReadAll(c.out)
	noError(b, err)
	noError(b, c.Wait())
	var open, peak float64
	_, err = fmt.Sscan(string(said), &open, &peak)
	noError(b, err)
	b.ReportMetric(open, "s/Open")
	b.ReportMetric(peak/1000, "MB")
}
