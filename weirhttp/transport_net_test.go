package weirhttp_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// limited returns a client of the server, one request at a time.
func (s *server) limited() (*http.Client, *weirhttp.Transport) {
	client := s.Client()
	transport := &weirhttp.Transport{PerHost: 1, Base: client.Transport}
	client.Transport = transport
	return client, transport
}

func TestTransportLimitsRealRequests(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			var gauge check.Gauge
			s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				gauge.Enter()
				defer gauge.Leave()
				_, err := io.Copy(w, r.Body)
				check.OK(t, err)
			}), protocol.start)
			client := s.Client()
			transport := &weirhttp.Transport{PerHost: 3, Base: client.Transport}
			client.Transport = transport
			var clients sync.WaitGroup
			for range 10 {
				clients.Go(func() {
					for range 10 {
						response, err := client.Post(s.URL, "text/plain", strings.NewReader("hello"))
						if err != nil {
							t.Error(err)
							return
						}
						b, err := io.ReadAll(response.Body)
						check.OK(t, err)
						check.Equal(t, "answer", string(b), "hello")
						check.OK(t, response.Body.Close())
					}
				})
			}
			clients.Wait()
			if peak := gauge.Peak.Load(); peak > 3 {
				t.Errorf("%d requests at once, want at most 3", peak)
			}
			remembersNothing(t, transport)
		})
	}
}

func TestAResponseWithoutABodyHoldsNoSlot(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					w.Header().Set("Content-Length", "5")
				}
				if status, err := strconv.Atoi(r.URL.Path[1:]); err == nil {
					w.WriteHeader(status)
				}
			}), protocol.start)
			_, transport := s.limited()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				for _, path := range []string{"/200", "/201", "/204", "/304"} {
					r, err := http.NewRequestWithContext(ctx, method, s.URL+path, nil)
					check.OK(t, err)
					_, err = transport.RoundTrip(r) //nolint:bodyclose // what this is about
					check.OK(t, err)
					remembersNothing(t, transport)
				}
			}
		})
	}
}

func TestTransportFollowsRedirectsToTheSameHost(t *testing.T) {
	s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/xxx" {
			_, err := io.WriteString(w, "there")
			check.OK(t, err)
			return
		}
		w.Header().Set("Location", r.URL.Path+"x")
		w.WriteHeader(http.StatusFound)
		_, err := io.WriteString(w, strings.Repeat("a long body ", 10_000)) // more than the client cares to read
		if err != nil {
			t.Logf("cut: %v", err)
		}
	}), (*httptest.Server).Start)
	client, transport := s.limited()
	response, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(response.Body)
	check.OK(t, err)
	check.Equal(t, "answer", string(b), "there")
	remembersNothing(t, transport)
	check.OK(t, response.Body.Close())
}

func TestTransportLetsAClientGiveUpWhileItWaits(t *testing.T) {
	s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.WriteString(w, "hello")
		check.OK(t, err)
	}), (*httptest.Server).Start)
	client, transport := s.limited()
	first, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = time.Millisecond
	_, err = client.Get(s.URL) //nolint:bodyclose // there is none
	check.Error(t, err, context.DeadlineExceeded)
	check.OK(t, first.Body.Close())
	remembersNothing(t, transport)
}

func TestTransportPassesCloseIdleConnectionsOn(t *testing.T) {
	closed := make(chan net.Conn, 10)
	s := startServer(t, handler(func() {}), func(s *httptest.Server) {
		s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				closed <- conn
			}
		}
		s.Start()
	})
	client, _ := s.limited()
	response, err := client.Get(s.URL)
	check.OK(t, err)
	check.OK(t, response.Body.Close())
	client.CloseIdleConnections()
	<-closed
	(&http.Client{Transport: &weirhttp.Transport{PerHost: 1, Base: base(hello)}}).CloseIdleConnections() // has none
}

// Through a proxy that limits its requests a connection switches protocols, and either side
// may end what it has to say while the other goes on.
func TestTransportCarriesOtherProtocols(t *testing.T) {
	backend := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		check.OK(t, err)
		all, err := io.ReadAll(buffered) // until the client has closed its half
		check.OK(t, err)
		_, err = conn.Write(all)
		check.OK(t, err)
	}), (*httptest.Server).Start)
	target, err := url.Parse(backend.URL)
	check.OK(t, err)
	_, transport := backend.limited()
	transport.Queue = -1
	proxy := startServer(t, &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0), // of what it refuses below
	}, (*httptest.Server).Start)

	const upgrade = "GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	ask := func() (net.Conn, *bufio.Reader, *http.Response) {
		conn, answer := proxy.dial(t, upgrade)
		response, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatal(err)
		}
		return conn, answer, response
	}
	conn, answer, response := ask()
	defer conn.Close()
	check.Equal(t, "status", response.StatusCode, http.StatusSwitchingProtocols)

	other, _, refused := ask()
	defer other.Close()
	check.Equal(t, "status of another", refused.StatusCode, http.StatusBadGateway)

	_, err = io.WriteString(conn, "hello")
	check.OK(t, err)
	check.OK(t, conn.(*net.TCPConn).CloseWrite())
	all, err := io.ReadAll(answer)
	check.OK(t, err)
	check.Equal(t, "echo", string(all), "hello")
	check.Until(t, "the slot is free", func() bool { return transport.Hosts() == 0 })
}

// A connection that the other side has closed half of may still be written to.
func TestTransportKeepsTheSlotOfAConnectionThatIsReadToItsEnd(t *testing.T) {
	pipe := func() net.Conn {
		near, far := net.Pipe()
		check.OK(t, far.Close())
		return near
	}
	for name, body := range map[string]io.ReadCloser{
		"read and write": pipe(),
		"half closable":  halfClosable{pipe(), new(int)},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &weirhttp.Transport{PerHost: 1, Base: base(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: body}, nil
			})}
			response, err := transport.RoundTrip(question(t, here))
			check.OK(t, err)
			_, err = io.ReadAll(response.Body)
			check.OK(t, err)
			check.Equal(t, "hosts remembered", transport.Hosts(), 1)
			_, canWrite := response.Body.(io.Writer)
			check.Equal(t, "can be written to", canWrite, true)
			closer, canClose := response.Body.(interface{ CloseWrite() error })
			half, isHalf := body.(halfClosable)
			check.Equal(t, "can be closed half", canClose, isHalf)
			if canClose {
				check.OK(t, closer.CloseWrite())
				check.Equal(t, "half closes", *half.closes, 1)
			}
			check.OK(t, response.Body.Close())
			remembersNothing(t, transport)
		})
	}
}

type halfClosable struct {
	net.Conn
	closes *int
}

func (h halfClosable) CloseWrite() error {
	*h.closes++
	return nil
}

// net/http closes the connection of a body that is left open when the request's context ends.
func TestABodyLeftOpenHoldsNoSlotWhenItsContextHasEnded(t *testing.T) {
	s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}), (*httptest.Server).Start)
	one := &http.Transport{MaxConnsPerHost: 1}
	base := &http.Transport{}
	defer one.CloseIdleConnections()
	defer base.CloseIdleConnections()
	for name, transport := range map[string]http.RoundTripper{
		"net/http": one,
		"weir":     &weirhttp.Transport{PerHost: 1, Base: base},
	} {
		t.Run(name, func(t *testing.T) {
			get := func(d time.Duration) error { // leaves the body open, but ends its context
				ctx, cancel := context.WithTimeout(t.Context(), d)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
				if err != nil {
					return err
				}
				_, err = (&http.Client{Transport: transport}).Do(r) //nolint:bodyclose // what this is about
				return err
			}
			for i := range 3 {
				if err := get(5 * time.Second); err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
			}
		})
	}
}

// otelhttp.NewTransport and others wrap each body, also http.NoBody.
func TestAResponseWithoutABodyHoldsNoSlotThoughTheBaseWrapsIt(t *testing.T) {
	s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}), (*httptest.Server).Start)
	client := s.Client()
	inner := client.Transport
	transport := &weirhttp.Transport{PerHost: 1, Queue: -1, Base: base(func(r *http.Request) (*http.Response, error) {
		response, err := inner.RoundTrip(r)
		if err == nil {
			response.Body = struct{ io.ReadCloser }{response.Body}
		}
		return response, err
	})}
	for _, what := range [][2]string{{http.MethodHead, "/200"}, {http.MethodGet, "/204"}, {http.MethodGet, "/304"}} {
		r, err := http.NewRequestWithContext(t.Context(), what[0], s.URL+what[1], nil)
		check.OK(t, err)
		response, err := transport.RoundTrip(r)
		check.OK(t, err)
		remembersNothing(t, transport)
		if err == nil {
			check.OK(t, response.Body.Close())
		}
	}
}
