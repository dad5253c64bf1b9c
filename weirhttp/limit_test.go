package weirhttp_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestNeverMoreThanTheLimitRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 7
		var gauge check.Gauge
		l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			gauge.Enter()
			defer gauge.Leave()
			time.Sleep(rand.N(time.Second))
		}), n, weirhttp.Queue(1000), weirhttp.MaxWait(time.Hour))
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				time.Sleep(rand.N(10 * time.Second))
				w := newSink()
				l.ServeHTTP(w, request(t, &untouched{t}, 1))
			})
		}
		wg.Wait()
		check.Equal(t, "most at once", gauge.Peak.Load(), n)
		check.Equal(t, "served", l.Stats(), weirhttp.Stats{Limit: n, Served: 500})
	})
}

func TestTheOldestThatWaitsRunsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 2, weirhttp.Queue(3))
		all := s.send("a", "b", "c", "d", "e")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 2, Running: 2, Waiting: 3})
		s.order("a", "b")
		s.end(all[1])
		s.order("c")
		s.end(all[0], all[2], all[3], all[4])
		s.order("d", "e")
		s.atRest()
	})
}

func TestAFullQueueRefusesTheNewcomerAtOnce(t *testing.T) {
	for name, tc := range map[string]struct{ queue, wait int }{"none": {0, 0}, "one": {1, 1}, "default": {-1, 2}} {
		check.Bubble(t, name, func(t *testing.T) {
			var opts []weirhttp.Option
			if tc.queue >= 0 {
				opts = append(opts, weirhttp.Queue(tc.queue))
			}
			s := newSite(t, 2, opts...)
			all := s.send([]string{"a", "b", "c", "d"}[:2+tc.wait]...)
			late := s.send("x", "y")
			s.refused(late[0], 0)
			s.refused(late[1], 0)
			check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 2, Running: 2, Waiting: tc.wait, QueueFull: 2})
			s.endAll(all)
		})
	}
}

func TestARequestWaitsAtMostForMaxWait(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []weirhttp.Option
		want time.Duration
	}{{"default", nil, time.Second}, {"set", []weirhttp.Option{weirhttp.MaxWait(time.Minute)}, time.Minute}} {
		check.Bubble(t, tc.name, func(t *testing.T) {
			s := newSite(t, 1, append(tc.opts, weirhttp.Queue(2))...)
			all := s.send("a", "b")
			time.Sleep(tc.want / 2)
			all = append(all, s.send("c")...)
			time.Sleep(tc.want/2 - 1)
			synctest.Wait()
			check.Equal(t, "b has ended", s.ended(all[1]), false)
			time.Sleep(time.Nanosecond)
			s.refused(all[1], tc.want)
			s.end(all[0])
			s.order("a", "c")
			check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Served: 1, TooLate: 1})
			s.end(all[2])
			s.atRest()
		})
	}
}

func TestARequestThatIsGoneWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(2))
		all := s.send("a", "b", "c")
		time.Sleep(time.Millisecond)
		all[1].cancel()
		s.refused(all[1], time.Millisecond)
		s.end(all[0])
		s.order("a", "c")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Served: 1, Gone: 1})
		s.end(all[2])
		s.atRest()
	})
}

// Chance decides here which of two simultaneous events comes first, so the test needs many
// tries.
func TestARequestThatIsGoneWhenItGetsASlotPassesItOn(t *testing.T) {
	for _, onPool := range []bool{false, true} {
		check.Bubble(t, fmt.Sprint("on a pool: ", onPool), func(t *testing.T) {
			for range 300 {
				opts := []weirhttp.Option{weirhttp.Queue(2), weirhttp.PerKey(1, keyHeader), weirhttp.PerKeyQueue(2)}
				if onPool {
					pool := weir.New(2)
					defer pool.Close()
					opts = append(opts, weirhttp.On(pool))
				}
				s := newSite(t, 1, opts...)
				all := s.send("a", "b", "c")
				// The handler ends, and hands its slot to b, before or after b sees that it is
				// gone.
				all[1].cancel()
				close(all[0].leave)
				s.refused(all[1], 0)
				s.order("a", "c")
				check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Keys: 1, Served: 1, Gone: 1})
				s.end(all[2])
				s.atRest()
			}
		})
	}
}

func TestASlotGrantedAtTheEndOfTheWaitIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			s := newSite(t, 1)
			a := s.start("a")
			synctest.Wait()
			go func() {
				time.Sleep(time.Second)
				close(a.leave)
			}()
			b := s.start("b")
			close(b.leave)
			time.Sleep(time.Second)
			synctest.Wait()
			// Either it ran, or it was too late; never neither, nor both.
			got := s.Stats()
			check.Equal(t, "served and refused", got.Served+got.TooLate, 2)
			check.Equal(t, "b has begun", b.began, got.TooLate == 0)
			check.Equal(t, "b got 200", b.answer.status == http.StatusOK, b.began)
			s.atRest()
		}
	})
}

func TestExemptRequestsRunWhateverElseDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(0))
		all := s.send("a")
		r := request(t, &untouched{t}, 1)
		r.URL.Path = "/health"
		for range 2 {
			w := newSink()
			s.Limiter.ServeHTTP(w, r)
			check.Equal(t, "status", w.status, http.StatusOK)
			check.Equal(t, "stats", s.Stats().Running, 1)
			s.Drain()
		}
		s.endAll(all)
	})
}

func TestResizeUpLetsThoseThatWaitRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(4))
		all := s.send("a", "b", "c", "d")
		s.order("a")
		s.Resize(2)
		s.order("b")
		s.Resize(4)
		synctest.Wait()
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 4, Running: 4})
		s.endAll(all)
	})
}

func TestResizeDownLetsNoneRunAboveTheNewLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 3, weirhttp.Queue(2))
		all := s.send("a", "b", "c", "d")
		s.order("a", "b", "c")
		s.Resize(1)
		s.end(all[0])
		s.order()
		all = append(all, s.send("e")...)
		s.end(all[1])
		s.order()
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Waiting: 2, Served: 2})
		s.end(all[2])
		s.order("d")
		s.endAll(all[3:])
	})
}

func TestDrainRefusesAllThatWaitsAndComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(2), weirhttp.PerKey(1, keyHeader), weirhttp.PerKeyQueue(2))
		all := s.send("1/a", "1/b", "2/c")
		s.Drain()
		s.refused(all[1], 0)
		s.refused(all[2], 0)
		s.end(all[0])
		late := s.send("3/d")
		s.refused(late[0], 0)
		for _, v := range []*visit{all[1], late[0]} {
			check.Equal(t, v.name+": Connection", v.answer.header.Get("Connection"), "close")
		}
		check.Equal(t, "a's status", all[0].answer.status, http.StatusOK)
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Served: 1, Closed: 3})
		s.Drain()
	})
}

// The documentation of Limit says where an http.TimeoutHandler has to stand.
func TestATimeoutHandlerStandsBeforeTheLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		serve func(h http.Handler) (http.Handler, *weirhttp.Limiter)
		peak  int
	}{
		"before": {func(h http.Handler) (http.Handler, *weirhttp.Limiter) {
			l := weirhttp.Limit(h, 1)
			return http.TimeoutHandler(l, time.Second, ""), l
		}, 1},
		"inside": {func(h http.Handler) (http.Handler, *weirhttp.Limiter) {
			l := weirhttp.Limit(http.TimeoutHandler(h, time.Second, ""), 1)
			return l, l
		}, 2},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			var gauge check.Gauge
			h, l := tc.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				gauge.Enter()
				defer gauge.Leave()
				time.Sleep(time.Minute)
			}))
			for range 2 {
				w := newSink()
				h.ServeHTTP(w, request(t, &untouched{t}, 1))
				check.Equal(t, "status", w.status, http.StatusServiceUnavailable)
			}
			check.Equal(t, "running, for all that the Limiter knows", l.Stats().Running, 2-tc.peak)
			check.Equal(t, "running", gauge.Peak.Load(), int64(tc.peak))
			time.Sleep(2 * time.Minute)
		})
	}
}
