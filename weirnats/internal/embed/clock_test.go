package embed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/embed"
)

// The clock is set while a message waits for its next try, and another one for its time. The true clock cannot be set: what the test sets is by how much weirnats sees it set.
func TestNothingWaitsForAClockThatIsSet(t *testing.T) {
	for name, c := range map[string]struct{ wait, jump time.Duration }{
		"an hour back":  {time.Hour, -time.Hour},
		"a day back":    {24 * time.Hour, -24 * time.Hour},
		"an hour ahead": {200 * time.Millisecond, time.Hour},
		"a day ahead":   {200 * time.Millisecond, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var by atomic.Int64
			defer embed.SetClock(func() time.Duration { return time.Duration(by.Load()) })()
			var log bytes.Buffer
			q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(t.TempDir()), weirnats.Lease(time.Second), weirnats.Logger(slog.New(slog.NewTextHandler(&log, nil))))
			check(t, err)
			ran, failed := make(chan string, 10), make(chan struct{}, 10)
			p := weir.New(2, weir.OnError(func(error) { failed <- struct{}{} }))
			t.Cleanup(p.Close) // a deferred one would wait forever in a test that fails
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() {
				served <- q.Serve(ctx, p, func(ctx context.Context, v string) error {
					if v == "again" && weirnats.Attempt(ctx).Number == 1 {
						return weir.RetryAfter(errors.New("not now"), c.wait)
					}
					ran <- v
					return nil
				})
			}()
			check(t, q.Put(t.Context(), "again"))
			<-failed
			check(t, q.Put(t.Context(), "later", weirnats.After(200*time.Millisecond)))
			by.Store(int64(c.jump))
			for range 2 {
				select {
				case <-ran:
				case <-time.After(30 * time.Second):
					t.Fatal("a message does not come")
				}
			}
			cancel()
			check(t, errors.Join(<-served, q.Close()))
			if !strings.Contains(log.String(), "has started again") {
				t.Errorf("the server has not started anew: %s", log.String())
			}
		})
	}
}

// restarts is what a log is written to. It gets a value with each start of a server but the first.
type restarts chan struct{}

func (r restarts) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("has started again")) {
		r <- struct{}{}
	}
	return len(line), nil
}

// The server starts anew in this process: the next one does not know the IDs of what is done.
func TestAnIDIsKnownAfterTheServerHasStartedAnew(t *testing.T) {
	var by atomic.Int64
	defer embed.SetClock(func() time.Duration { return time.Duration(by.Load()) })()
	started := make(restarts, 10)
	q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(t.TempDir()), weirnats.Logger(slog.New(slog.NewTextHandler(started, nil))))
	check(t, err)
	ran := make(chan string, 10)
	p := weir.New(2)
	t.Cleanup(p.Close)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- q.Serve(ctx, p, func(_ context.Context, v string) error {
			ran <- v
			return nil
		})
	}()
	put := func(v, id string) {
		t.Helper()
		err := q.Put(t.Context(), v, weirnats.ID(id))
		for errors.As(err, new(*weirnats.BrokenError)) {
			err = q.Put(t.Context(), v, weirnats.ID(id))
		}
		check(t, err)
		check(t, q.Put(t.Context(), v+" later", weirnats.ID(id), weirnats.After(time.Millisecond)))
	}
	both := func(v string) {
		t.Helper()
		if got := []string{<-ran, <-ran}; !slices.Contains(got, v) || !slices.Contains(got, v+" later") {
			t.Fatalf("ran %q", got)
		}
	}
	for round := range 2 { // the IDs of each server
		put("first", fmt.Sprint(round))
		both("first")
		for s, err := q.Stats(t.Context()); err != nil || s.Messages+s.Later > 0; s, err = q.Stats(t.Context()) {
			time.Sleep(time.Millisecond)
		}
		by.Store(int64(time.Duration(1-2*round) * time.Minute))
		<-started
		put("again", "0")
		put("again", fmt.Sprint(round))
		put("end", fmt.Sprint("end", round))
		both("end")
	}
	cancel()
	check(t, errors.Join(<-served, q.Close()))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The clock is set back while a file cannot be written. When it can, nothing waits for the clock either.
func TestNothingWaitsForAClockThatIsSetWhileTheDiskIsFull(t *testing.T) {
	var by atomic.Int64
	defer embed.SetClock(func() time.Duration { return time.Duration(by.Load()) })()
	dir, lines := t.TempDir(), make(chan string, 100)
	q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(dir), weirnats.Lease(time.Second), weirnats.Logger(slog.New(slog.NewTextHandler(lineTo(lines), nil))))
	check(t, err)
	ran, failed := make(chan string, 10), make(chan struct{}, 10)
	p := weir.New(2, weir.OnError(func(error) { failed <- struct{}{} }))
	t.Cleanup(p.Close)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- q.Serve(ctx, p, func(ctx context.Context, v string) error {
			if weirnats.Attempt(ctx).Number == 1 {
				return weir.RetryAfter(errors.New("not now"), time.Hour)
			}
			ran <- v
			return nil
		})
	}()
	check(t, q.Put(t.Context(), "again"))
	<-failed
	time.Sleep(time.Second) // the server notes the failure in its file
	inTheWay := filepath.Join(dir, "store", "jetstream", "$G", "streams", "weir_q_q", "obs", "work", "o.dat.tmp")
	check(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	by.Store(-int64(time.Hour))
	for !strings.Contains(<-lines, "cannot start again yet") {
	}
	check(t, os.RemoveAll(inTheWay))
	select {
	case <-ran:
	case <-time.After(10 * time.Second):
		t.Error("the message does not come")
	}
	cancel()
	check(t, errors.Join(<-served, q.Close()))
}

// lineTo is what a log is written to. It gets each line.
type lineTo chan string

func (l lineTo) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default: // the reader is gone
	}
	return len(line), nil
}
