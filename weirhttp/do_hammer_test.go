package weirhttp_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// ledger is a ResponseWriter that tells how the request ended. Without a lock of its own it
// has the race detector find what is written once ServeHTTP has returned.
type ledger struct {
	sink
	served int
}

// The clients hang up at any moment, and the pool is resized and closed meanwhile.
func TestDoServesEachRequestOnceOrRefusesItUnderStress(t *testing.T) {
	// Full only while the limit is 1: else what is refused would crowd out what runs.
	pool := weir.New(4, weir.Queue(8), weir.MaxWaiting(14))
	var gauge check.Gauge
	var runs, served, refusals, aborts, panics atomic.Int64
	h := weirhttp.Do(pool, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gauge.Enter()
		defer gauge.Leave()
		runs.Add(1)
		w.(*ledger).served++
		for range len(r.URL.Path) {
			runtime.Gosched()
		}
		switch r.URL.Path {
		case "/panic":
			explode()
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/exit":
			runtime.Goexit()
		case "/group":
			group := pool.Group(r.Context())
			for range 3 {
				group.Go(func(context.Context) error { return nil })
			}
			_ = group.Wait() // the client may be gone
		}
		w.WriteHeader(http.StatusOK)
	}))
	paths := []string{"/", "/panic", "/abort", "/exit", "/group", "/group"}
	one := func(i int) {
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, paths[i%len(paths)], http.NoBody)
		check.OK(t, err)
		if i%3 == 0 {
			go hangUp()
		}
		w := &ledger{sink: sink{header: http.Header{}}}
		value := check.Caught(func() { h.ServeHTTP(w, r) })
		switch err, _ := value.(error); {
		case value == nil && w.status == http.StatusOK:
			served.Add(1)
			check.Equal(t, "times served", w.served, 1)
		case value == nil:
			refusals.Add(1)
			check.Equal(t, "status", w.status, http.StatusServiceUnavailable)
			check.Equal(t, "times a refused request was served", w.served, 0)
		case value == http.ErrAbortHandler: //nolint:errorlint // as net/http compares
			aborts.Add(1)
			check.Equal(t, "times served", w.served, 1)
		default:
			panics.Add(1)
			check.Equal(t, "panicked with boom", errors.Is(err, errBoom), true)
			check.Equal(t, "times served", w.served, 1)
		}
	}
	rounds := check.Scale(2000, 200)
	var clients sync.WaitGroup
	for client := range 24 {
		clients.Go(func() {
			for i := range rounds {
				one(client*rounds + i)
				switch {
				case client == 0 && i%10 == 0:
					pool.Resize(1 + i/10%4)
				case client == 1 && i == rounds*9/10:
					pool.Close()
				}
			}
		})
	}
	clients.Wait()
	pool.Close()
	total := served.Load() + refusals.Load() + aborts.Load() + panics.Load()
	check.Equal(t, "requests that ended", total, int64(24*rounds))
	check.Equal(t, "handlers that ran", runs.Load(), total-refusals.Load())
	check.Equal(t, "handlers that run", gauge.Now.Load(), 0)
	for what, n := range map[string]int64{
		"served": served.Load(), "refused": refusals.Load(), "aborted": aborts.Load(), "panicked": panics.Load(),
	} {
		if n == 0 {
			t.Errorf("no request was %s", what)
		}
	}
}
