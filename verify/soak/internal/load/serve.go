package load

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
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
	ledger := books.NewLedger(r.Book, clients*each)
	gauge := books.NewGauge(r.Book, limit)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if !r.Check(err == nil, "the loopback has no port: %v", err) {
		return
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		id, _ := strconv.Atoi(req.URL.Query().Get("id"))
		ledger.Run(id, gauge, func() { toil(id % 16).do() })
	})
	var limited http.Handler
	var stats func() weirhttp.Stats
	var pool *weir.Pool
	if one(r.Rand, 3) {
		pool = weir.New(limit, weir.Queue(r.Rand.IntN(4)), weir.MaxWaiting(r.Rand.IntN(clients)))
		limited = weirhttp.Do(pool, handler)
	} else {
		opts := []weirhttp.Option{weirhttp.Queue(r.Rand.IntN(clients)), weirhttp.MaxWait(time.Duration(1+r.Rand.IntN(2000)) * time.Microsecond)}
		if one(r.Rand, 2) {
			opts = append(opts, weirhttp.NewestFirst())
		}
		if one(r.Rand, 3) {
			pool = weir.New(limit)
			opts = append(opts, weirhttp.On(pool))
		}
		limiter := weirhttp.Limit(handler, limit, opts...)
		limited, stats = limiter, limiter.Stats
	}
	server := &http.Server{Handler: limited, ReadHeaderTimeout: time.Minute}
	var serving team
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.Breach("the server has ended with %v", err)
		}
	})
	v := &visitor{r: r, ledger: ledger, url: "http://" + listener.Addr().String() + "/?id="}
	v.transport.MaxIdleConnsPerHost, v.hasty.MaxIdleConnsPerHost = clients, clients
	var all team
	all.each(r, clients, func(rnd *rand.Rand) {
		for range each {
			v.ask(rnd)
		}
	})
	all.Wait()
	v.transport.CloseIdleConnections()
	v.hasty.CloseIdleConnections()
	if err := server.Shutdown(context.Background()); err != nil {
		r.Breach("the server does not shut down: %v", err)
	}
	serving.Wait()
	if pool != nil {
		pool.Close()
		r.settled(pool, nil)
	}
	ledger.Quiet("Server.Shutdown")
	own := ledger.Audit()
	if stats == nil {
		return
	}
	s := stats()
	r.Check(s.Running == 0 && s.Waiting == 0, "a limiter without requests still has some: %+v", s)
	r.Check(s.Served == own.Finished, "a limiter has served %d requests, and the books say %d", s.Served, own.Finished)
	if v.gone.Load() == 0 {
		refused := s.QueueFull + s.KeyFull + s.Displaced + s.TooLate + s.Gone + s.Closed
		r.Check(refused == own.Rejected, "a limiter has refused %d requests, and the books say %d", refused, own.Rejected)
	}
}

type visitor struct {
	r         *Round
	ledger    *books.Ledger
	transport http.Transport
	hasty     http.Transport // for requests that give up: the next request on such a connection can get the error of one that was given up
	url       string
	gone      atomic.Int64 // requests that were given up
}

// ask sends one request.
func (v *visitor) ask(rnd *rand.Rand) {
	id := v.ledger.New()
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	hasty := one(rnd, 10)
	if hasty {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(500))*time.Microsecond)
	}
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+strconv.Itoa(id), http.NoBody)
	if !v.r.Check(err == nil, "no request: %v", err) {
		return
	}
	transport := &v.transport
	if hasty {
		transport = &v.hasty
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		v.r.Check(hasty, "a request has failed: %v", err)
		v.gone.Add(1)
		v.ledger.Offer(id) // it may still run
		return
	}
	_, err = io.Copy(io.Discard, resp.Body)
	closed := resp.Body.Close()
	v.r.Check(hasty || err == nil && closed == nil, "a response breaks off: %v, %v", err, closed)
	switch resp.StatusCode {
	case http.StatusOK:
		v.ledger.Accept(id)
	case http.StatusServiceUnavailable:
		v.ledger.Reject(id)
	default:
		v.r.Breach("a request was answered with %s", resp.Status)
	}
}
