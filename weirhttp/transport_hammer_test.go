package weirhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestTransportUnderStressKeepsItsLimitAndLosesNoSlot(t *testing.T) {
	hosts := []string{"http://a.example", "http://b.example", "http://c.example"}
	var gauges [3]check.Gauge
	transport := &weirhttp.Transport{PerHost: 3, Queue: 8, MaxWait: time.Minute, Base: base(func(r *http.Request) (*http.Response, error) {
		e := r.Context().Value(ofExchange{}).(*exchange)
		if !e.begin(&gauges[r.URL.Hostname()[0]-'a']) {
			check.OK(t, r.Body.Close())
			return nil, context.Canceled
		}
		switch len(r.URL.Path) % 5 {
		case 0:
			e.end()
			return nil, errBoom
		case 1:
			e.end()
			panic(errBoom)
		}
		return &http.Response{Body: &gauged{text("hello"), e}}, nil
	})}
	var senders sync.WaitGroup
	for sender := range 40 {
		senders.Go(func() {
			for i := range check.Scale(2000, 200) {
				e := new(exchange)
				ctx, stop := context.WithCancel(context.WithValue(t.Context(), ofExchange{}, e))
				cancel := func() { // what net/http does when the context ends is done first here, so that the gauge is exact
					e.end()
					stop()
				}
				r := question(t, hosts[(sender+i)%3]+"/"+strings.Repeat("x", (sender*7+i)%5)).WithContext(ctx)
				if i%3 == 0 {
					go cancel()
				}
				hit(t, transport, r, i%2 == 0)
				cancel()
			}
		})
	}
	senders.Wait()
	for i := range gauges {
		check.Equal(t, "requests left under way", gauges[i].Now.Load(), 0)
		if peak := gauges[i].Peak.Load(); peak > 3 {
			t.Errorf("%d requests at once, want at most 3", peak)
		}
	}
	remembersNothing(t, transport)
}

// hit sends a request, and ends its response in one of the ways there are.
func hit(t testing.TB, transport *weirhttp.Transport, r *http.Request, read bool) {
	defer func() {
		if value := recover(); value != nil {
			check.Equal(t, "panic", value, any(errBoom))
		}
	}()
	response, err := transport.RoundTrip(r)
	if err != nil {
		if !errors.Is(err, errBoom) && !errors.Is(err, weirhttp.ErrOverloaded) {
			check.Error(t, err, context.Canceled)
			check.Equal(t, "times the body was closed", r.Body.(*closing).closed.Load(), 1)
		}
		return
	}
	runtime.Gosched()
	if read {
		_, err := io.ReadAll(response.Body)
		check.OK(t, err)
	}
	var twice sync.WaitGroup
	for range 2 {
		twice.Go(func() { check.OK(t, response.Body.Close()) })
	}
	twice.Wait()
}

// exchange is a request and its response, of which a gauge counts how many are under way.
type exchange struct {
	mu    sync.Mutex
	gauge *check.Gauge
	over  bool
}

// ofExchange is the key of an exchange in the context of its request.
type ofExchange struct{}

func (e *exchange) begin(gauge *check.Gauge) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return false
	}
	e.gauge = gauge
	gauge.Enter()
	return true
}

func (e *exchange) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gauge != nil && !e.over {
		e.gauge.Leave()
	}
	e.over = true
}

// gauged is the body of a response.
type gauged struct {
	*closing
	exchange *exchange
}

func (g *gauged) Read(p []byte) (int, error) {
	n, err := g.closing.Read(p)
	if err != nil {
		g.exchange.end()
	}
	return n, err
}

func (g *gauged) Close() error {
	g.exchange.end()
	return nil
}
