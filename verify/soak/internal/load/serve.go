package load

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/weirhttp"
)

// serve runs a server on the loopback that admits few requests at once, and clients that ask for
// more, some of which give up.
func serve(r *Round) {
	const clients, each = 10, 6
	limit := pick(r.Rand, 1, 2, 4)
	v := &visitor{Round: r, ledger: books.NewLedger(r.Book, clients*each)}
	gauge := books.NewGauge(r.Book, limit)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		id, _ := strconv.Atoi(req.URL.Query().Get("id"))
		v.ledger.Run(id, gauge, toil(id%16).do)
	})
	pool := weir.New(limit, weir.Queue(r.Rand.IntN(4)), weir.MaxWaiting(r.Rand.IntN(clients)))
	limited, stats := weirhttp.Do(pool, handler), (func() weirhttp.Stats)(nil)
	if !one(r.Rand, 3) {
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
	server := httptest.NewServer(limited)
	v.url = server.URL + "/?id="
	for i := range v.transports {
		v.transports[i].MaxIdleConnsPerHost = clients
	}
	var all team
	all.each(r, clients, func(rnd *rand.Rand) {
		for range each {
			v.ask(rnd)
		}
	})
	all.Wait()
	for i := range v.transports {
		v.transports[i].CloseIdleConnections()
	}
	err := server.Config.Shutdown(context.Background())
	r.Check(err == nil, "the server does not shut down: %v", err)
	server.Close()
	pool.Close()
	own := r.settled(pool, v.ledger, false)
	if stats == nil {
		return
	}
	s := stats()
	r.Check(s.Running == 0 && s.Waiting == 0, "a limiter without requests still has some: %+v", s)
	r.Check(s.Served == own.Finished, "a limiter has served %d requests, and the books say %d", s.Served, own.Finished)
	refused := s.QueueFull + s.KeyFull + s.Displaced + s.TooLate + s.Gone + s.Closed
	r.Check(v.gone.Load() > 0 || refused == own.Rejected, "a limiter has refused %d requests, and the books say %d", refused, own.Rejected)
}

type visitor struct {
	*Round
	ledger     *books.Ledger
	transports [2]http.Transport // the second for requests that give up: the next one on such a connection can get the error of one that was given up
	url        string
	gone       atomic.Int64 // requests that were given up
}

// ask sends one request.
func (v *visitor) ask(rnd *rand.Rand) {
	id, transport := v.ledger.New(), &v.transports[0]
	ctx, cancel := context.WithCancel(context.Background())
	hasty := one(rnd, 10)
	if hasty {
		ctx, cancel = deadline(rnd, 500)
		transport = &v.transports[1]
	}
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+strconv.Itoa(id), http.NoBody)
	if !v.Check(err == nil, "no request: %v", err) {
		return
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		v.Check(hasty, "a request has failed: %v", err)
		v.gone.Add(1)
		v.ledger.Offer(id) // it may still run
		return
	}
	_, err = io.Copy(io.Discard, resp.Body)
	err = errors.Join(err, resp.Body.Close())
	v.Check(hasty || err == nil, "a response breaks off: %v", err)
	switch resp.StatusCode {
	case http.StatusOK:
		v.ledger.Accept(id)
	case http.StatusServiceUnavailable:
		v.ledger.Reject(id)
	default:
		v.Breach("a request was answered with %s", resp.Status)
	}
}
