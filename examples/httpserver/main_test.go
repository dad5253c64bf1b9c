package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// program is the server on a loopback port.
type program struct {
	url     string
	client  *http.Client
	stop    func()     // as a signal does
	ended   chan error // what serve returns
	entered atomic.Int64
}

// start runs the program with this handler, and counts the requests that reach it.
func start(t *testing.T, handler http.Handler, patience time.Duration) *program {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	transport := &http.Transport{}
	p := &program{
		url:    "http://" + listener.Addr().String(),
		client: &http.Client{Transport: transport},
		stop: func() {
			transport.CloseIdleConnections() // one that was never used would hold the server up for the 5 s after which net/http sees that
			stop()
		},
		ended: make(chan error, 1),
	}
	go func() {
		p.ended <- serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.entered.Add(1)
			handler.ServeHTTP(w, r)
		}), patience)
	}()
	t.Cleanup(func() {
		p.stop()
		transport.CloseIdleConnections()
	})
	return p
}

// ask returns the status and the whole answer to a request. It may be called by any goroutine.
func (p *program) ask(method, path, body string) (int, string, http.Header, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	response, err := p.client.Do(r)
	if err != nil {
		return 0, "", nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), response.Header, err
}

func (p *program) expect(t *testing.T, method, path, body string, status int, answer string) {
	t.Helper()
	gotStatus, got, _, err := p.ask(method, path, body)
	check.OK(t, err)
	check.Equal(t, method+" "+path+": status", gotStatus, status)
	check.Equal(t, method+" "+path+": answer", got, answer)
}

func (p *program) endsWell(t *testing.T) {
	t.Helper()
	p.stop()
	check.OK(t, <-p.ended)
}

func atOnce(context.Context) error { return nil }

func TestServerReverses(t *testing.T) {
	for name, handler := range map[string]http.Handler{
		"limited": limited(newHandler(atOnce), 4, 4, time.Minute),
		"plain":   newHandler(newBackend(0).work),
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, handler, time.Minute)
			p.expect(t, http.MethodPost, "/reverse", "hello", http.StatusOK, "olleh")
			p.expect(t, http.MethodPost, "/reverse", "", http.StatusOK, "")
			p.expect(t, http.MethodGet, "/healthz", "", http.StatusOK, "ok\n")
			p.expect(t, http.MethodGet, "/reverse", "", http.StatusMethodNotAllowed, "Method Not Allowed\n")
			p.endsWell(t)
		})
	}
}

func TestServerRefusesWhatIsTooLong(t *testing.T) {
	p := start(t, newHandler(atOnce), time.Minute)
	long := strings.Repeat("x", 1<<20+1)
	p.expect(t, http.MethodPost, "/reverse", long, http.StatusRequestEntityTooLarge, "http: request body too large\n")
	p.endsWell(t)
}

func TestServerRefusesWhatIsTooMuch(t *testing.T) {
	release := make(chan struct{})
	var gauge check.Gauge
	work := func(context.Context) error {
		gauge.Enter()
		defer gauge.Leave()
		<-release
		return nil
	}
	p := start(t, limited(newHandler(work), 2, 3, time.Minute), time.Minute)
	var clients sync.WaitGroup
	var served, refused atomic.Int64
	for range 20 {
		clients.Go(func() {
			status, answer, header, err := p.ask(http.MethodPost, "/reverse", "hello")
			check.OK(t, err)
			switch status {
			case http.StatusOK:
				served.Add(1)
				check.Equal(t, "answer", answer, "olleh")
			case http.StatusServiceUnavailable:
				refused.Add(1)
				check.Equal(t, "Retry-After", header.Get("Retry-After"), "1")
			default:
				t.Errorf("status %d", status)
			}
		})
	}
	check.Until(t, "15 are refused, and 2 run", func() bool { return refused.Load() == 15 && gauge.Now.Load() == 2 })
	p.expect(t, http.MethodGet, "/healthz", "", http.StatusOK, "ok\n")
	close(release)
	clients.Wait()
	check.Equal(t, "served", served.Load(), 5)
	check.Equal(t, "refused", refused.Load(), 15)
	check.Equal(t, "at once", gauge.Peak.Load(), 2)
	p.endsWell(t)
}

func TestServerAnswersAllItHasTakenBeforeItEnds(t *testing.T) {
	turn := make(chan struct{})
	work := func(context.Context) error {
		<-turn
		return nil
	}
	p := start(t, limited(newHandler(work), 4, 8, time.Minute), time.Minute)
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 24 {
		clients.Go(func() {
			for { // until the server takes no more
				status, answer, _, err := p.ask(http.MethodPost, "/reverse", "hello")
				if err != nil {
					return
				}
				answered.Add(1)
				if status != http.StatusServiceUnavailable {
					check.Equal(t, "status", status, http.StatusOK)
					check.Equal(t, "answer", answer, "olleh")
				}
			}
		})
	}
	for range 100 { // so many are served before the signal
		turn <- struct{}{}
	}
	p.stop()
	close(turn)
	check.OK(t, <-p.ended)
	clients.Wait()
	check.Equal(t, "requests answered, of those taken", answered.Load(), p.entered.Load())
}

func TestServerCutsOffWhatTakesTooLongToEnd(t *testing.T) {
	begun := make(chan struct{})
	work := func(ctx context.Context) error {
		close(begun)
		<-ctx.Done() // the client never hangs up: it is the server that ends this
		return context.Cause(ctx)
	}
	p := start(t, newHandler(work), time.Nanosecond)
	cut := make(chan error, 1)
	go func() {
		_, _, _, err := p.ask(http.MethodPost, "/reverse", "hello")
		cut <- err
	}()
	<-begun
	p.stop()
	check.Error(t, <-p.ended, context.DeadlineExceeded)
	if err := <-cut; err == nil {
		t.Error("the request was answered")
	}
}

func TestServerReportsThatItCannotServe(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.OK(t, err)
	check.OK(t, listener.Close())
	if err := serve(t.Context(), listener, newHandler(atOnce), time.Minute); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got error %v", err)
	}
}

func TestBackendEndsItsWorkWithTheRequest(t *testing.T) {
	b := newBackend(time.Hour)
	ctx, cancel := context.WithCancelCause(t.Context())
	var requests sync.WaitGroup
	for range 2 * backendPlaces {
		requests.Go(func() { check.Error(t, b.work(ctx), io.ErrClosedPipe) })
	}
	check.Until(t, "all places are taken", func() bool { return len(b.places) == backendPlaces })
	cancel(io.ErrClosedPipe)
	requests.Wait()
	check.Equal(t, "taken places", len(b.places), 0)
}
