package weirhttp_test

import (
	"context"
	"mime/multipart"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// occupy submits n tasks to the pool, which run until they are let go.
func occupy(t testing.TB, p *weir.Pool, n int) (release chan struct{}) {
	t.Helper()
	release = make(chan struct{})
	for range n {
		check.OK(t, p.Submit(func() { <-release }))
	}
	synctest.Wait()
	return release
}

func TestRequestsAndTasksShareThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		s := newSite(t, 2, weirhttp.On(p))
		release := occupy(t, p, 1)
		all := s.send("a", "b", "c")
		s.order("a")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 2, Running: 1, Waiting: 2})
		var ran atomic.Bool
		check.OK(t, p.Submit(func() { ran.Store(true) }))
		s.end(all[0])
		s.order("b") // it came to the pool before the task
		check.Equal(t, "the task behind has run", ran.Load(), false)
		release <- struct{}{}
		s.order("c")
		check.Equal(t, "the task behind has run", ran.Load(), true)
		s.endAll(all[1:])
		check.Equal(t, "served", s.Stats(), weirhttp.Stats{Limit: 2, Served: 3})
		p.Close()
	})
}

func TestMaxWaitBoundsTheWaitForTheSlotAndForThePoolTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		s := newSite(t, 1, weirhttp.On(p), weirhttp.MaxWait(10*time.Second))
		all := s.send("a", "b")
		s.order("a")
		release := make(chan struct{})
		check.OK(t, p.Submit(func() { <-release })) // a leaves the place to it, the slot to b
		time.Sleep(6 * time.Second)
		s.end(all[0])
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Waiting: 1, Served: 1})
		time.Sleep(4*time.Second - 1)
		synctest.Wait()
		check.Equal(t, "b has ended", s.ended(all[1]), false)
		time.Sleep(time.Nanosecond)
		s.refused(all[1], 10*time.Second)
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Served: 1, TooLate: 1})
		close(release)
		p.Close()
	})
}

func TestARequestThatWaitsForThePoolMayEndItsWait(t *testing.T) {
	for name, tc := range map[string]struct {
		do     func(*site, *weir.Pool, *visit)
		after  time.Duration
		closed string
		want   weirhttp.Stats
	}{
		"too late": {func(*site, *weir.Pool, *visit) { time.Sleep(time.Second) }, time.Second, "", weirhttp.Stats{TooLate: 1}},
		"gone":     {func(_ *site, _ *weir.Pool, v *visit) { v.cancel() }, 0, "", weirhttp.Stats{Gone: 1}},
		"drained":  {func(s *site, _ *weir.Pool, _ *visit) { s.Drain() }, 0, "close", weirhttp.Stats{Closed: 1}},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1)
			release := occupy(t, p, 1)
			s := newSite(t, 1, weirhttp.On(p))
			v := s.send("a")[0]
			tc.do(s, p, v)
			s.refused(v, tc.after)
			check.Equal(t, "Connection", v.answer.header.Get("Connection"), tc.closed)
			tc.want.Limit = 1
			check.Equal(t, "stats", s.Stats(), tc.want)
			close(release)
			p.Close()
		})
	}
}

func TestWhatThePoolRefusesIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		release := occupy(t, p, 1)
		s := newSite(t, 1, weirhttp.On(p))
		s.refused(s.send("a")[0], 0)
		close(release)
		p.Close()
		v := s.send("b")[0]
		s.refused(v, 0)
		check.Equal(t, "Connection", v.answer.header.Get("Connection"), "close")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, QueueFull: 1, Closed: 1})
	})
}

func TestWhatExpiresInThePoolHasWaitedTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.ExpireAfter(100*time.Millisecond))
		release := occupy(t, p, 1)
		h := handler(func() { t.Error("a request has run") })
		refused(t, answerOf(weirhttp.Do(p, h), aGet(t)))
		l := weirhttp.Limit(h, 1, weirhttp.On(p), weirhttp.MaxWait(time.Hour))
		refused(t, answerOf(l, aGet(t)))
		check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, TooLate: 1})
		close(release)
		p.Close()
	})
}

func TestOnAPoolPanicAndGoexitFreeSlotAndPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		var end func()
		l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { end() }), 1, weirhttp.On(p))
		serve := func() { l.ServeHTTP(newSink(), request(t, nil, 0)) }
		for range 3 {
			end = func() { panic(http.ErrAbortHandler) }
			check.Equal(t, "panic", check.Caught(serve), any(http.ErrAbortHandler))
			end = runtime.Goexit
			go serve()
			synctest.Wait()
		}
		end = func() {}
		serve()
		check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Served: 7})
		p.Close()
	})
}

// The context by which the wait ends is not the request's.
func TestOnAPoolTheHandlerIsNotBoundByMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		r := request(t, nil, 0)
		l := weirhttp.Limit(http.HandlerFunc(func(_ http.ResponseWriter, got *http.Request) {
			check.Equal(t, "request", got.URL, r.URL)
			time.Sleep(time.Hour) // far more than MaxWait
			check.OK(t, context.Cause(got.Context()))
		}), 1, weirhttp.On(p))
		l.ServeHTTP(newSink(), r)
		check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Served: 1})
		p.Close()
	})
}

// With one place, which the handler has, its group could not run otherwise.
func TestOnAPoolTheHandlerMayWaitForTasksOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		r := request(t, nil, 0)
		ran := false
		l := weirhttp.Limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			g := p.Group(r.Context())
			g.Go(func(context.Context) error {
				ran = true
				return nil
			})
			check.OK(t, g.Wait())
			r.Pattern = "/a" // as a mux inside does
		}), 1, weirhttp.On(p))
		l.ServeHTTP(newSink(), r)
		check.Equal(t, "the task has run", ran, true)
		check.Equal(t, "what the handler leaves in the request", r.Pattern, "/a")
		p.Close()
	})
}

func TestOnAPoolWhatIsTooLateLeavesThePoolsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(4))
		release := occupy(t, p, 1)
		l := weirhttp.Limit(http.NotFoundHandler(), 2, weirhttp.On(p))
		for range 10 {
			s := newSink()
			l.ServeHTTP(s, request(t, nil, 0))
			check.Equal(t, "status", s.status, http.StatusServiceUnavailable)
		}
		check.Equal(t, "queued", p.Stats().Queued, 0)
		check.OK(t, p.TrySubmit(func() {}))
		close(release)
		p.Close()
	})
}

func TestOnAPoolALimiterServesTwoBubbles(t *testing.T) {
	p := weir.New(2, weir.IdleTimeout(0))
	l := weirhttp.Limit(http.NotFoundHandler(), 2, weirhttp.On(p))
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			s := newSink()
			l.ServeHTTP(s, request(t, nil, 0))
			check.Equal(t, "status", s.status, http.StatusNotFound)
		})
	}
}

// The server removes the files of a form that the handler has parsed, and a handler outside may report the pattern.
func TestOnAPoolAHandlerThatPanicsHandsItsFormBack(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	form := new(multipart.Form)
	l := weirhttp.Limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r.MultipartForm, r.Pattern = form, "POST /"
		panic(http.ErrAbortHandler)
	}), 1, weirhttp.On(p))
	r := request(t, nil, 0)
	check.Equal(t, "panic", check.Caught(func() { l.ServeHTTP(newSink(), r) }), any(http.ErrAbortHandler))
	check.Equal(t, "form", r.MultipartForm, form)
	check.Equal(t, "pattern", r.Pattern, "POST /")
}

// Neither in the context that Drain ends nor as a timer that MaxWait has set.
func TestOnAPoolARequestLeavesNothingBehind(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), 1, weirhttp.On(p), weirhttp.MaxWait(time.Hour))
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // for what was in a pool of the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	r, w := request(t, nil, 0), newSink()
	l.ServeHTTP(w, r)
	before := heap()
	const n = 20_000
	for range n {
		l.ServeHTTP(w, r)
	}
	if after := heap(); after > before+50*n {
		t.Errorf("each of %d requests has left %d bytes behind", n, (after-before)/n)
	}
	l.Drain()
}
