package weirhttp_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirhttp"
)

func TestARequestWhoseContextPanicsKeepsNoSlotOfALimiter(t *testing.T) {
	for _, onPool := range []bool{false, true} {
		withBrokenContexts(t, func(t *testing.T, ctx context.Context) {
			opts := []weirhttp.Option{weirhttp.Queue(9), weirhttp.MaxWait(time.Minute), weirhttp.PerKey(1, keyHeader)}
			if onPool {
				pool := weir.New(1)
				defer pool.Close()
				opts = append(opts, weirhttp.On(pool))
			}
			served := 0
			l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				served++
				time.Sleep(10 * time.Second)
			}), 1, opts...)
			var all sync.WaitGroup
			for _, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
				all.Go(func() { apart(func() { l.ServeHTTP(newSink(), request(t, nil, 0).WithContext(ctx)) }) })
				synctest.Wait()
			}
			all.Wait()
			nothingIsLeft(t, l, 1)
			if served < 2 {
				t.Errorf("%d requests were served", served)
			}
		})
	}
}
