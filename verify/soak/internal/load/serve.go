package load

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/weirhttp"
)

// serve sends a limited handler more requests than it may run at once, some of which are given up. The network
// between them is for package hostile.
func serve(r *Round) {
	const clients, each = 10, 20
	limit := pick(r.Rand, 1, 2, 4)
	ledger, gauge := books.NewLedger(r.Book, clients*each), books.NewGauge(r.Book, limit)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		id := req.Context().Value(requestID{}).(int)
		ledger.Run(id, gauge, toil(id%16).do)
	})
	pool := weir.New(limit, weir.Queue(r.Rand.IntN(4)), weir.MaxWaiting(r.Rand.IntN(clients)))
	limited, stats := weirhttp.Do(pool, handler), func() (s weirhttp.Stats) { return s }
	bare := one(r.Rand, 3)
	if !bare {
		opts := []weirhttp.Option{weirhttp.Queue(r.Rand.IntN(clients)), weirhttp.MaxWait(time.Microsecond + micros(r.Rand, 2000))}
		if one(r.Rand, 2) {
			opts = append(opts, weirhttp.NewestFirst())
		}
		if one(r.Rand, 3) {
			opts = append(opts, weirhttp.On(pool))
		}
		limiter := weirhttp.Limit(handler, limit, opts...)
		limited, stats = limiter, limiter.Stats
	}
	var all team
	all.each(r, clients, func(rnd *rand.Rand) {
		for range each {
			id, answer := ledger.New(), httptest.NewRecorder()
			ctx, cancel := someContext(rnd)
			limited.ServeHTTP(answer, httptest.NewRequestWithContext(context.WithValue(ctx, requestID{}, id), http.MethodGet, "/", http.NoBody))
			gone := ctx.Err() != nil
			cancel()
			want := http.StatusServiceUnavailable
			if ledger.Ran(id) {
				want = http.StatusOK
				ledger.Accept(id)
				ledger.Ended("ServeHTTP", id)
			} else {
				ledger.Reject(id)
			}
			r.Check(gone || answer.Code == want, "the status of request %d is %d, not %d", id, answer.Code, want)
		}
	})
	all.Wait()
	pool.Close()
	own, s := r.settled(pool, ledger, false), stats()
	refused := s.QueueFull + s.KeyFull + s.Displaced + s.TooLate + s.Gone + s.Closed
	r.Check(s.Running == 0 && s.Waiting == 0, "a limiter without requests still has some: %+v", s)
	r.Check(bare || s.Served == own.Finished && refused == own.Rejected, "a limiter has counted %+v, and the books say %+v", s, own)
}

type requestID struct{}
