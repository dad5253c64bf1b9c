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
		gauge := &gauges[r.URL.Hostname()[0]-'a']
		gauge.Enter()
		switch len(r.URL.Path) % 5 {
		case 0:
			gauge.Leave()
			return nil, errBoom
		case 1:
			gauge.Leave()
			panic(errBoom)
		}
		return &http.Response{Body: &gauged{text("hello"), gauge, sync.Once{}}}, nil
	})}
	var senders sync.WaitGroup
	for sender := range 40 {
		senders.Go(func() {
			for i := range check.Scale(2000, 200) {
				ctx, cancel := context.WithCancel(t.Context())
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

// gauged is a body of which the gauge counts how many are open.
type gauged struct {
	*closing
	gauge *check.Gauge
	once  sync.Once
}

func (g *gauged) Read(p []byte) (int, error) {
	n, err := g.closing.Read(p)
	if err != nil {
		g.once.Do(g.gauge.Leave)
	}
	return n, err
}

func (g *gauged) Close() error {
	g.once.Do(g.gauge.Leave)
	return nil
}
