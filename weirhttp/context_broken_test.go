package weirhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// withBrokenContexts calls test in a bubble with each of some broken contexts: at the first to the sixth call they panic or exit, and they end after a
// second or an hour.
func withBrokenContexts(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	for name, ends := range map[string]func(){"panics": func() { panic(errBoom) }, "exits": runtime.Goexit} {
		for left := 1; left <= 6; left++ {
			for _, lasts := range []time.Duration{time.Second, time.Hour} {
				check.Bubble(t, fmt.Sprint(name, " at ", left, ", ends after ", lasts), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), lasts)
					defer cancel()
					test(t, &check.BrokenContext{Context: ctx, Left: left, Ends: ends})
				})
			}
		}
	}
}

// apart calls f, which may panic or exit, on a goroutine of its own.
func apart(f func()) {
	var one sync.WaitGroup
	one.Go(func() { check.Caught(f) })
	one.Wait()
}

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
