package weirhttp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// base is a RoundTripper that does what it says.
type base func(*http.Request) (*http.Response, error)

func (f base) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// closing is a body that tells how often it was closed.
type closing struct {
	io.Reader
	closed atomic.Int32
}

func (c *closing) Close() error {
	c.closed.Add(1)
	return nil
}

func text(s string) *closing { return &closing{Reader: strings.NewReader(s)} }

// hello is a base whose responses have a body.
func hello(*http.Request) (*http.Response, error) { return &http.Response{Body: text("hello")}, nil }

func question(t testing.TB, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, text("question"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const here = "http://here.example"

// send sends a request and closes the body of its response.
func send(t testing.TB, transport http.RoundTripper, r *http.Request) error {
	t.Helper()
	response, err := transport.RoundTrip(r)
	if err != nil {
		check.Equal(t, "response of a failed round trip", response, nil)
		return err
	}
	return response.Body.Close()
}

// remembersNothing fails the test if the transport remembers a host.
func remembersNothing(t testing.TB, transport *weirhttp.Transport) {
	t.Helper()
	check.Equal(t, "hosts remembered", transport.Hosts(), 0)
}

func TestTransportHasAsManyRequestsToAHostUnderWayAsItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := map[string]*check.Valve{"here.example": check.NewValve(), "there.example": check.NewValve()}
		transport := &weirhttp.Transport{PerHost: 2, Base: base(func(r *http.Request) (*http.Response, error) {
			v[r.URL.Host].Hold()
			return hello(r)
		})}
		var requests sync.WaitGroup
		for host := range v {
			for range 5 {
				requests.Go(func() { check.OK(t, send(t, transport, question(t, "http://"+host))) })
			}
		}
		for range 4 {
			synctest.Wait()
			for host := range v {
				check.Equal(t, "requests to "+host, v[host].Running(), 2)
				v[host].LetOne()
			}
		}
		for host := range v {
			v[host].Open()
		}
		requests.Wait()
		remembersNothing(t, transport)
	})
}

func TestTransportKnowsAHostInEverySpelling(t *testing.T) {
	transport := &weirhttp.Transport{PerHost: 1, Queue: -1, Base: base(hello)}
	for _, same := range [][]string{
		{"http://here.example/a", "http://HERE.example/b?c=d", "http://user@here.example:80", "http://here.example:/"},
		{"https://here.example", "https://here.example:443"},
		{"http://[::1]/", "http://[::1]:80/"},
		{"http://here.example:8080", "https://here.example:8080"},
	} {
		for _, first := range same {
			response, err := transport.RoundTrip(question(t, first))
			check.OK(t, err)
			for _, second := range same {
				check.Error(t, send(t, transport, question(t, second)), weirhttp.ErrOverloaded)
			}
			check.OK(t, response.Body.Close())
		}
	}
	// Other names and ports are other hosts.
	for _, other := range []string{"http://here.example", "https://here.example", "http://there.example", "http://[::1]", "http://here.example:81"} {
		response, err := transport.RoundTrip(question(t, other))
		check.OK(t, err)
		defer response.Body.Close()
	}
}

// A slot is given back exactly once, and not before the response is done with.
func TestTransportKeepsTheSlotUntilTheResponseIsDoneWith(t *testing.T) {
	closes := func(r *http.Response) { check.OK(t, r.Body.Close()) }
	reads := func(r *http.Response) {
		b, err := io.ReadAll(r.Body)
		check.OK(t, err)
		check.Equal(t, "body", string(b), "hello")
	}
	fails := func(r *http.Response) {
		_, err := io.ReadAll(r.Body)
		check.Error(t, err, errBoom)
	}
	body := func(b io.ReadCloser) base {
		return func(*http.Request) (*http.Response, error) { return &http.Response{Body: b}, nil }
	}
	broken := func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: &closing{Reader: io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(errBoom))}}, nil
	}
	nothing := func(*http.Response) {}
	tests := []struct {
		name   string
		base   base
		during func(*http.Response) // until then the slot is taken
		keeps  bool
	}{
		{"closed", hello, closes, true},
		{"read to the end", hello, reads, true},
		{"read and closed", hello, func(r *http.Response) { reads(r); closes(r); closes(r) }, true},
		{"read to an error", broken, fails, true},
		{"no body", body(http.NoBody), nothing, false},
		{"nil body", body(nil), nothing, false},
		{"nil response", func(*http.Request) (*http.Response, error) { return nil, nil }, nothing, false}, //nolint:nilnil // what a faulty base does
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			transport := &weirhttp.Transport{PerHost: 2, Queue: -1, Base: test.base}
			for range 3 {
				r, err := transport.RoundTrip(question(t, here))
				check.OK(t, err)
				if test.keeps {
					check.Equal(t, "hosts remembered", transport.Hosts(), 1)
				}
				test.during(r)
				remembersNothing(t, transport)
			}
			// If one were given back twice, there would be three now.
			transport.Base = base(hello)
			for range 2 {
				r, err := transport.RoundTrip(question(t, here))
				check.OK(t, err)
				defer r.Body.Close()
			}
			check.Error(t, send(t, transport, question(t, here)), weirhttp.ErrOverloaded)
		})
	}
}

func TestTransportGivesTheSlotBackWhenTheRoundTripFails(t *testing.T) {
	failures := map[string]base{
		"error":  func(*http.Request) (*http.Response, error) { return nil, errBoom },
		"panic":  func(*http.Request) (*http.Response, error) { panic(errBoom) },
		"Goexit": func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil }, //nolint:nilnil // never returns
		"both":   func(r *http.Request) (*http.Response, error) { return &http.Response{Body: text("")}, errBoom },
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			transport := &weirhttp.Transport{PerHost: 1, Queue: -1, Base: fail}
			r := question(t, here)
			var sender sync.WaitGroup
			sender.Go(func() {
				defer func() {
					if value := recover(); value != nil {
						check.Equal(t, "panic", value, any(errBoom))
					}
				}()
				_, err := transport.RoundTrip(r)
				check.Error(t, err, errBoom)
			})
			sender.Wait()
			remembersNothing(t, transport)
			if name == "panic" || name == "Goexit" { // else the base sees to it
				check.Equal(t, "closed", r.Body.(*closing).closed.Load(), 1)
			}
		})
	}
}

func TestTransportUsesTheDefaultTransport(t *testing.T) {
	s := startServer(t, handler(func() {}), (*httptest.Server).Start)
	transport := &weirhttp.Transport{PerHost: 1}
	check.OK(t, send(t, transport, question(t, s.URL)))
	transport.CloseIdleConnections()
	remembersNothing(t, transport)
}

func TestTransportLeavesTheRequestAsItIs(t *testing.T) {
	r := question(t, "http://HERE.example:80/path?query")
	before := *r
	transport := &weirhttp.Transport{PerHost: 1, Base: base(func(got *http.Request) (*http.Response, error) {
		check.Equal(t, "request", got, r)
		return hello(got)
	})}
	check.OK(t, send(t, transport, r))
	if !reflect.DeepEqual(*r, before) {
		t.Errorf("the request is now %+v, was %+v", *r, before)
	}
}

func TestTransportHasTheBaseAnswerForARequestWithoutURL(t *testing.T) {
	r := question(t, here)
	r.URL = nil
	err := send(t, &weirhttp.Transport{PerHost: 1}, r)
	if err == nil || err.Error() != "http: nil Request.URL" {
		t.Errorf("got error %v", err)
	}
	check.Equal(t, "times the body was closed", r.Body.(*closing).closed.Load(), 1)
}

func TestTransportRejectsMisuse(t *testing.T) {
	for want, transport := range map[string]*weirhttp.Transport{
		"weirhttp: requests per host must be at least 1, got 0":  {},
		"weirhttp: requests per host must be at least 1, got -1": {PerHost: -1},
		"weirhttp: longest wait must be at least 0, got -1ns":    {PerHost: 1, MaxWait: -1},
	} {
		check.Panics(t, want, func() { check.OK(t, send(t, transport, question(t, here))) })
	}
}

// While a body is being closed its connection is not free for the next request.
func TestTransportHoldsTheSlotUntilTheBodyIsClosed(t *testing.T) {
	transport := &weirhttp.Transport{PerHost: 1, Queue: -1}
	inside := errors.New("not asked")
	transport.Base = base(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: closer(func() { inside = send(t, transport, question(t, here)) })}, nil
	})
	check.OK(t, send(t, transport, question(t, here)))
	check.Error(t, inside, weirhttp.ErrOverloaded)
	remembersNothing(t, transport)
}

// closer is an empty body that calls a function when it is closed.
type closer func()

func (closer) Read([]byte) (int, error) { return 0, io.EOF }

func (f closer) Close() error {
	f()
	return nil
}
