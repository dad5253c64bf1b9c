package top_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirdebug"
)

// handled is the network of a handler.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// frame is a part of each stack. Under the race detector, where a task has a goroutine of its own, it is one of the library's.
const frame = ".go:"

func TestTheHandlerOfWeirdebugUnderstandsAllRequests(t *testing.T) {
	show(t, handled{weirdebug.Handler(weirdebug.Control())}, 100, 24, func(screen *terminal) {
		pool := weir.New(2, weir.Name("real"))
		release, over := make(chan struct{}), make(chan struct{})
		defer func() {
			close(release)
			<-over
			pool.Close()
		}()
		outer := weir.Label(screen.Context(), "outer")
		go func() {
			defer close(over)
			group := pool.Group(outer)
			group.Go(func(ctx context.Context) error {
				own := weir.NewGroup(weir.Label(ctx, "inner"), 1, weir.Name("own"))
				own.Go(func(context.Context) error {
					<-release
					return nil
				})
				return own.Wait()
			})
			_ = group.Wait() // the test looks at it meanwhile
		}()
		screen.press("/", "real", "enter")
		screen.pass(2 * time.Second)
		screen.wants(`1 pool with "real"`, "»  real")
		screen.press("enter")
		screen.wants("Pool  real_test.go:", "outer")
		screen.press("l", "3", "enter")
		if got := pool.Stats().Limit; got != 3 {
			t.Errorf("the limit is %d", got)
		}
		screen.press("p", "y", "enter")
		screen.wants("PAUSED")
		screen.press("p", "y", "enter")
		screen.wantsNo("PAUSED")
		screen.press("enter")
		screen.wants("task of worker 1, since 2s", frame)
		screen.press("esc", "t")
		screen.wants("outer on real, 1 task", "inner on own, 1 task")
		screen.press("end", "enter")
		screen.wants("task of worker 1", "inner", frame)
	})
}
