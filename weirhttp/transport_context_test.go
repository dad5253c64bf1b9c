package weirhttp_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestARequestWhoseContextPanicsKeepsNoSlotOfATransport(t *testing.T) {
	for _, rate := range []weirhttp.HostRate{{}, {N: 1, Per: 20 * time.Second}} {
		withBrokenContexts(t, func(t *testing.T, ctx context.Context) {
			sent := 0
			transport := &weirhttp.Transport{PerHost: 2, Rate: rate, Base: base(func(r *http.Request) (*http.Response, error) {
				sent++
				time.Sleep(10 * time.Second)
				return hello(r)
			})}
			if rate.N == 0 {
				transport.PerHost = 1
			}
			var all sync.WaitGroup
			for _, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
				all.Go(func() { apart(func() { _ = send(t, transport, question(t, here).WithContext(ctx)) }) })
				synctest.Wait()
			}
			all.Wait()
			if sent < 2 {
				t.Errorf("%d requests were sent", sent)
			}
			time.Sleep(time.Hour)
			began := time.Now()
			check.OK(t, send(t, transport, question(t, here)))
			check.Equal(t, "time of a request after a rest", time.Since(began), 10*time.Second)
			remembersNothing(t, transport)
		})
	}
}

// The body is not closed: that it was read to its end is enough.
func TestABodyReadToItsEndKeepsNoSlotIfItsContextPanics(t *testing.T) {
	withBrokenContexts(t, func(t *testing.T, ctx context.Context) {
		transport := &weirhttp.Transport{PerHost: 1, MaxWait: time.Minute, Base: base(hello)}
		apart(func() {
			response, err := transport.RoundTrip(question(t, here).WithContext(ctx)) //nolint:bodyclose // see above
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body) // which panics, or the next request tells
			}
		})
		check.OK(t, send(t, transport, question(t, here)))
		remembersNothing(t, transport)
	})
}
