package embed_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
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
			defer p.Close()
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

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
