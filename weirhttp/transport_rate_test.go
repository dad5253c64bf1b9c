package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func getFrom(ctx context.Context, t *testing.T, transport *weirhttp.Transport, host string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err == nil {
		err = response.Body.Close()
	}
	return err
}

func TestRequestsToAHostAreSentAtItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 8, MaxWait: time.Second, Rate: weirhttp.HostRate{N: 2, Burst: 3}}
		begin := time.Now()
		for i, want := range []time.Duration{0, 0, 0, 500 * time.Millisecond, time.Second} {
			for _, host := range []string{"a", "b"} { // each has turns of its own
				if err := getFrom(t.Context(), t, transport, host); err != nil {
					t.Error(err)
				}
			}
			if d := time.Since(begin); d != want {
				t.Errorf("request %d was sent after %v, want %v", i, d, want)
			}
		}
	})
}

func TestARequestThatWaitsTooLongForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 1, MaxWait: time.Second, Rate: weirhttp.HostRate{N: 1, Per: time.Minute}}
		if err := getFrom(t.Context(), t, transport, "a"); err != nil {
			t.Error(err)
		}
		begin := time.Now()
		slot := make(chan error)
		go func() { slot <- getFrom(t.Context(), t, transport, "a") }()
		synctest.Wait()
		time.Sleep(time.Second / 4)
		err := getFrom(t.Context(), t, transport, "a") // waits for a slot, and then for the turn
		if want := "weirhttp: too many requests to one host: waited 1s for a:80"; !errors.Is(err, weirhttp.ErrOverloaded) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if err := <-slot; !errors.Is(err, weirhttp.ErrOverloaded) || time.Since(begin) != time.Second*5/4 {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := getFrom(ctx, t, transport, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a request whose context ends: %v", err)
		}
		time.Sleep(time.Minute - time.Since(begin))
		if err := getFrom(t.Context(), t, transport, "a"); err != nil {
			t.Errorf("those that gave up have used a turn: %v", err)
		}
		if n := transport.Hosts(); n != 0 {
			t.Errorf("%d hosts have slots taken", n)
		}
	})
}

func TestHostsThatRestAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 1, Rate: weirhttp.HostRate{N: 1}}
		for i := range 100_000 {
			if err := getFrom(t.Context(), t, transport, fmt.Sprintf("host%d", i)); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				time.Sleep(time.Second)
			}
		}
		if n := transport.Rated(); n > 100 {
			t.Errorf("%d hosts are remembered", n)
		}
	})
	synctest.Test(t, func(t *testing.T) { // also after a burst, and by requests to few hosts
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 1, Rate: weirhttp.HostRate{N: 1}}
		const burst, few = 10_000, 20
		for i := range burst + burst/2 {
			if i >= burst {
				time.Sleep(time.Minute)
			}
			if err := getFrom(t.Context(), t, transport, fmt.Sprintf("host%d", min(i, burst+i%few))); err != nil {
				t.Fatal(err)
			}
		}
		if n := transport.Rated(); n > 2*few {
			t.Errorf("%d hosts are remembered after a burst", n)
		}
	})
}

// Requests that wait for the rate of their host count among those that wait, and not among those that are under way.
func TestRequestsThatWaitForTheRateWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 10, Queue: 2, Rate: weirhttp.HostRate{N: 1, Per: time.Hour}}
		var refused atomic.Int32
		var clients sync.WaitGroup
		for range 5 {
			clients.Go(func() {
				if errors.Is(getFrom(t.Context(), t, transport, "a"), weirhttp.ErrOverloaded) {
					refused.Add(1)
				}
			})
			synctest.Wait()
		}
		check.Equal(t, "requests refused", refused.Load(), 2)
		time.Sleep(time.Minute)
		check.Equal(t, "age of the oldest", transport.Times().Oldest, time.Minute)
		clients.Wait()
		times := transport.Times()
		check.Equal(t, "requests that have waited", times.Wait.Count(), 3)
		check.Equal(t, "hours that they have waited", math.Round(times.Wait.Sum()/3600), 1+2)
		check.Equal(t, "requests that ran", times.Run.Count(), 3)
		check.Equal(t, "seconds that they ran", math.Round(times.Run.Sum()), 0)
		remembersNothing(t, transport)
	})
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 10, Queue: -1, MaxWait: time.Second, Rate: weirhttp.HostRate{N: 1, Per: time.Hour}}
		check.OK(t, getFrom(t.Context(), t, transport, "a"))
		check.Error(t, getFrom(t.Context(), t, transport, "a"), weirhttp.ErrOverloaded)
		check.Equal(t, "requests measured", transport.Times().Wait.Count(), 1)
	})
}

// A request that has waited is not refused because of one that came later.
func TestARequestThatHasASlotIsNotRefusedForNewerOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{Base: base(hello), PerHost: 1, Queue: 2, Rate: weirhttp.HostRate{N: 1, Per: time.Hour}}
		response, err := transport.RoundTrip(question(t, "http://a/"))
		check.OK(t, err)
		var clients sync.WaitGroup
		for range 2 {
			clients.Go(func() { check.OK(t, getFrom(t.Context(), t, transport, "a")) })
		}
		synctest.Wait()
		check.OK(t, response.Body.Close())
		if err := getFrom(t.Context(), t, transport, "a"); err != nil {
			check.Error(t, err, weirhttp.ErrOverloaded)
		}
		clients.Wait()
		remembersNothing(t, transport)
	})
}
