package weirhttp_test

import (
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// measured checks what two requests leave behind that took two seconds each, one after the other.
func measured(t *testing.T, times weir.Times) {
	t.Helper()
	check.Equal(t, "requests that waited", times.Wait.Count(), 2)
	check.Equal(t, "requests that ran", times.Run.Count(), 2)
	check.Equal(t, "seconds of waits", math.Round(times.Wait.Sum()), 2)
	check.Equal(t, "seconds of runs", math.Round(times.Run.Sum()), 4)
	check.Equal(t, "age of none", times.Oldest, 0)
}

func TestALimiterTellsHowLongRequestsWaitAndRun(t *testing.T) {
	for name, opts := range map[string][]weirhttp.Option{"alone": nil, "with priorities": {weirhttp.Priority(func(*http.Request) int { return 1 })}, "on a pool": nil} {
		check.Bubble(t, name, func(t *testing.T) {
			if name == "on a pool" {
				pool := weir.New(1)
				defer pool.Close()
				opts = []weirhttp.Option{weirhttp.On(pool)}
			}
			slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) })
			l := weirhttp.Limit(slow, 1, append(opts, weirhttp.Queue(1), weirhttp.MaxWait(time.Minute))...)
			check.Equal(t, "requests before the first", l.Times().Run.Count(), 0)
			var clients sync.WaitGroup
			for range 3 { // the last is refused
				clients.Go(func() { l.ServeHTTP(newSink(), request(t, &untouched{t}, 1)) })
				synctest.Wait()
			}
			time.Sleep(time.Second)
			check.Equal(t, "age of the oldest", l.Times().Oldest, time.Second)
			clients.Wait()
			measured(t, l.Times())
		})
	}
}

type slowly struct{}

func (slowly) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(2 * time.Second)
	return &http.Response{Body: http.NoBody}, nil
}

func TestATransportTellsHowLongRequestsWaitAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: slowly{}, PerHost: 1, Queue: 1}
		check.Equal(t, "requests before the first", transport.Times().Run.Count(), 0)
		var clients sync.WaitGroup
		for range 3 { // the last is refused
			clients.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", strings.NewReader("order"))
				check.OK(t, err)
				_, _ = transport.RoundTrip(r) //nolint:bodyclose // there is none
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		check.Equal(t, "age of the oldest", transport.Times().Oldest, time.Second)
		clients.Wait()
		measured(t, transport.Times())
	})
}

func TestTheAgeOfTheOldestCountsTheWaitForThePool(t *testing.T) {
	check.Bubble(t, "one place", func(t *testing.T) {
		p := weir.New(1)
		release := occupy(t, p, 1)
		l := weirhttp.Limit(http.NotFoundHandler(), 1, weirhttp.On(p), weirhttp.MaxWait(time.Minute))
		go l.ServeHTTP(newSink(), request(t, &untouched{t}, 1))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		check.Equal(t, "waiting", l.Stats().Waiting, 1)
		check.Equal(t, "age of the oldest", l.Times().Oldest, 10*time.Second)
		close(release)
		p.Close()
		synctest.Wait()
	})
}
