package weirhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// The place of a handler that waits must not go to another request, which blocks on the lock. The lock is a
// channel, as a mutex does not block durably: a request that hangs ends the bubble.
func TestOnAPoolAHandlerMayHoldALockWhileItWaitsForAnotherPool(t *testing.T) {
	const requests = 40
	for _, limit := range []int{1, 4} {
		check.Bubble(t, fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			p, q := weir.New(limit), weir.New(limit)
			defer p.Close()
			defer q.Close()
			lock := make(chan struct{}, 1)
			l := weirhttp.Limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				lock <- struct{}{}
				defer func() { <-lock }()
				g := q.Group(r.Context())
				for range 3 {
					g.Go(func(context.Context) error {
						time.Sleep(time.Millisecond)
						return nil
					})
				}
				check.OK(t, g.Wait())
				w.WriteHeader(http.StatusOK)
			}), 16, weirhttp.On(p), weirhttp.Queue(requests), weirhttp.MaxWait(time.Minute))
			var answers [requests]*sink
			var all sync.WaitGroup
			for i := range answers {
				answers[i] = newSink()
				all.Go(func() { l.ServeHTTP(answers[i], request(t, nil, 0)) })
			}
			all.Wait()
			for i, answer := range answers {
				check.Equal(t, fmt.Sprint("status of request ", i), answer.status, http.StatusOK)
			}
			check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 16, Served: requests})
		})
	}
}
