package weirhttp_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// unruly is a handler that does everything that handlers should not do.
type unruly struct{ gauge check.Gauge }

func (u *unruly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.gauge.Enter()
	defer u.gauge.Leave()
	switch rand.N(8) {
	case 0:
		panic(errBoom)
	case 1:
		panic(http.ErrAbortHandler)
	case 2:
		runtime.Goexit()
	case 3: // never reads
		w.WriteHeader(http.StatusAccepted)
	case 4: // writes after the client has left, if it does
		for range 100 {
			runtime.Gosched()
			if r.Context().Err() != nil {
				break
			}
		}
		_, _ = w.Write(make([]byte, 1<<14)) // to no client
	case 5:
		_, _ = io.Copy(w, r.Body)
	case 6:
		yield(rand.N(50))
	default:
	}
}

// yield lets others run so many times.
func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

// nothingIsLeft fails the test if anything is left of requests.
func nothingIsLeft(t *testing.T, l *weirhttp.Limiter, n int) {
	t.Helper()
	got := l.Stats()
	check.Equal(t, "running", got.Running, 0)
	check.Equal(t, "waiting", got.Waiting, 0)
	check.Equal(t, "keys", got.Keys, 0)
	check.Equal(t, "limit", got.Limit, n)
}

func TestNoFaultOfAHandlerOrAClientCostsASlot(t *testing.T) {
	const limit, senders = 4, 32
	for name, tc := range map[string]struct {
		opts []weirhttp.Option
		pool *weir.Pool
	}{
		"plain":        {},
		"newest first": {opts: []weirhttp.Option{weirhttp.NewestFirst(), weirhttp.Priority(priorityHeader)}},
		"keys":         {opts: []weirhttp.Option{weirhttp.PerKey(2, keyHeader), weirhttp.Priority(priorityHeader)}},
		"pool":         {pool: weir.New(limit, weir.Queue(1))},
	} {
		t.Run(name, func(t *testing.T) {
			total := check.Scale(100_000, 4_000) / 4
			opts := slices.Concat(tc.opts, []weirhttp.Option{weirhttp.Queue(20), weirhttp.MaxWait(2 * time.Millisecond)})
			if tc.pool != nil {
				opts = append(opts, weirhttp.On(tc.pool))
			}
			var u unruly
			var probe atomic.Pointer[gate] // stands in for the unruly handler at the end
			l := weirhttp.Limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if g := probe.Load(); g != nil {
					g.ServeHTTP(w, r)
					return
				}
				u.ServeHTTP(w, r)
			}), limit, opts...)

			answered := make([]int, 3) // without an answer; served; refused
			var mu sync.Mutex
			var next atomic.Int64
			var all sync.WaitGroup
			for range senders {
				all.Go(func() {
					for i := next.Add(1); i <= int64(total); i = next.Add(1) {
						var one sync.WaitGroup // a goroutine for each, as it may end by Goexit
						one.Go(func() {
							w := newSink()
							defer func() {
								_ = recover() // as net/http does
								mu.Lock()
								defer mu.Unlock()
								switch w.status {
								case 0:
									answered[0]++
								case http.StatusServiceUnavailable:
									answered[2]++
								default:
									answered[1]++
								}
							}()
							ctx, cancel := context.WithCancel(context.Background())
							defer cancel()
							r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(make([]byte, 100)))
							check.OK(t, err)
							r.Header.Set("Priority", strconv.Itoa(rand.N(3)))
							r.Header.Set("Key", strconv.Itoa(rand.N(5)))
							switch rand.N(4) {
							case 0:
								cancel()
							case 1:
								one.Go(func() {
									yield(rand.N(40))
									cancel()
								})
							default:
							}
							l.ServeHTTP(w, r)
						})
						one.Wait()
						if i%64 == 0 {
							l.Resize(1 + rand.N(limit))
						}
					}
				})
			}
			all.Wait()
			l.Resize(limit)
			nothingIsLeft(t, l, limit)
			got := l.Stats()
			refused := got.QueueFull + got.KeyFull + got.Displaced + got.TooLate + got.Gone + got.Closed
			check.Equal(t, "requests", int(got.Served+refused), total)
			check.Equal(t, "refused", int(refused), answered[2])
			check.Equal(t, "not above the limit", u.gauge.Peak.Load() <= limit, true)
			t.Logf("%+v", got)

			g := newGate()
			probe.Store(g)
			for i := range limit {
				all.Go(func() {
					r := request(t, nil, 0)
					r.Header.Set("Key", strconv.Itoa(i))
					for status := 503; status == 503; { // it may have to wait for the pool
						w := newSink()
						l.ServeHTTP(w, r)
						status = w.status
					}
				})
			}
			check.Within(time.Minute, func() {
				for range limit {
					<-g.entered
				}
			})
			close(g.leave)
			all.Wait()
			nothingIsLeft(t, l, limit)
			if tc.pool != nil {
				tc.pool.Close()
			}
		})
	}
}

// The same over the network, with clients that hang up.
func TestNoFaultOverTheNetworkCostsASlot(t *testing.T) {
	const limit = 4
	var u unruly
	l := weirhttp.Limit(&u, limit, weirhttp.Queue(4))
	srv := serve(t, l)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for next.Add(1) <= int64(check.Scale(1_000, 200)) {
				ctx, cancel := context.WithCancel(context.Background())
				var canceller sync.WaitGroup
				if rand.N(2) == 0 {
					canceller.Go(func() {
						yield(rand.N(500))
						cancel()
					})
				}
				var body io.Reader // with one a client that is gone is not seen before it is read
				if rand.N(2) == 0 {
					body = bytes.NewReader(make([]byte, rand.N(1<<15)))
				}
				status := get(ctx, t, srv.Client(), srv.URL, body)
				canceller.Wait()
				cancel()
				if status != 0 && status != 200 && status != 202 && status != 503 {
					t.Errorf("status %d", status)
				}
			}
		})
	}
	wg.Wait()
	check.Until(t, "all have ended", func() bool { s := l.Stats(); return s.Running+s.Waiting == 0 })
	nothingIsLeft(t, l, limit)
	check.Equal(t, "not above the limit", u.gauge.Peak.Load() <= limit, true)
	t.Logf("%+v", l.Stats())
}
