package weirhttp_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// serve runs a server on the loopback interface until the test ends.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// gate is a handler that runs until it is let go.
type gate struct{ entered, leave chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}, 100), make(chan struct{})} }

func (g *gate) ServeHTTP(http.ResponseWriter, *http.Request) {
	g.entered <- struct{}{}
	<-g.leave
}

// get has the server answer a request, and returns the status, 0 for an error.
func get(ctx context.Context, t testing.TB, client *http.Client, url string, body io.Reader) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		t.Error(err)
		return 0
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, answer.Body)
	check.OK(t, answer.Body.Close())
	if err != nil {
		return 0
	}
	return answer.StatusCode
}

func TestAClientThatHangsUpWaitsNoLonger(t *testing.T) {
	g := newGate()
	l := weirhttp.Limit(g, 1, weirhttp.MaxWait(1<<62))
	srv := serve(t, l)
	var wg sync.WaitGroup
	wg.Go(func() { check.Equal(t, "first", get(t.Context(), t, srv.Client(), srv.URL, nil), 200) })
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() { check.Equal(t, "second", get(ctx, t, srv.Client(), srv.URL, nil), 0) })
	check.Until(t, "it waits", func() bool { return l.Stats().Waiting == 1 })
	cancel()
	check.Until(t, "it is gone", func() bool { return l.Stats().Gone == 1 })
	check.Equal(t, "waiting", l.Stats().Waiting, 0)
	close(g.leave)
	wg.Wait()
}

// dialog is a connection on which a test writes and reads HTTP/1 by hand.
type dialog struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

func dial(t testing.TB, srv *httptest.Server) *dialog {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // some have closed it themselves
	return &dialog{t, conn, bufio.NewReader(conn)}
}

func (d *dialog) say(s string) {
	_, err := io.WriteString(d, s)
	check.OK(d.t, err)
}

// hear reads an answer, and tells its status and whether the server closes.
func (d *dialog) hear() (status int, closes bool) {
	d.t.Helper()
	answer, err := http.ReadResponse(d.in, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	check.OK(d.t, err)
	check.OK(d.t, answer.Body.Close())
	return answer.StatusCode, answer.Close
}

const (
	getLine  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	postHead = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "
)

// full returns a server whose Limiter refuses all requests until the test calls open.
func full(t *testing.T) (srv *httptest.Server, open func()) {
	g := newGate()
	l := weirhttp.Limit(g, 1, weirhttp.Queue(0))
	srv = serve(t, l)
	var wg sync.WaitGroup
	wg.Go(func() { check.Equal(t, "first", get(context.Background(), t, srv.Client(), srv.URL, nil), 200) })
	<-g.entered
	open = sync.OnceFunc(func() {
		close(g.leave)
		wg.Wait()
	})
	t.Cleanup(open)
	return srv, open
}

func TestAConnectionOutlivesARefusal(t *testing.T) {
	srv, open := full(t)
	d := dial(t, srv)
	for _, say := range []string{getLine, postHead + "100\r\n\r\n" + strings.Repeat("x", 100), getLine} {
		d.say(say)
		status, closes := d.hear()
		check.Equal(t, "status", status, 503)
		check.Equal(t, "closes", closes, false)
	}
	open()
	d.say(getLine)
	status, _ := d.hear()
	check.Equal(t, "status", status, 200)
}

// The client sends nothing of its body, and still gets the refusal: so nothing reads the body
// before.
func TestARefusalDoesNotWaitForALongBody(t *testing.T) {
	srv, _ := full(t)
	for name, say := range map[string]string{
		"200 KB":        postHead + "200000\r\n\r\n",
		"1 GB":          postHead + "1000000000\r\n\r\n",
		"chunked":       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"expect 100 B":  postHead + "100\r\nExpect: 100-continue\r\n\r\n",
		"expect 200 KB": postHead + "200000\r\nExpect: 100-continue\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := dial(t, srv)
			d.say(say)
			status, closes := d.hear() // and not "100 Continue"
			check.Equal(t, "status", status, 503)
			check.Equal(t, "closes", closes, true)
		})
	}
}

// counting is a listener whose connections count the bytes they send.
type counting struct {
	net.Listener
	sent *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, c.sent}, nil
}

type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.Conn.Write(b)
}

func TestWhileARequestWaitsItsClientIsNotAskedForTheBody(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	l := weirhttp.Limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			close(entered)
			<-leave
			return
		}
		_, err := io.Copy(io.Discard, r.Body)
		check.OK(t, err)
	}), 1, weirhttp.MaxWait(1<<62))
	srv := httptest.NewUnstartedServer(l)
	var sent atomic.Int64
	srv.Listener = counting{srv.Listener, &sent}
	srv.Start()
	t.Cleanup(srv.Close)
	first, second := dial(t, srv), dial(t, srv)
	first.say(getLine)
	<-entered
	second.say(postHead + "3\r\nExpect: 100-continue\r\n\r\n")
	check.Until(t, "it waits", func() bool { return l.Stats().Waiting == 1 })
	check.Equal(t, "bytes that the server has sent", sent.Load(), 0)
	close(leave)
	line, err := second.in.ReadString('\n')
	check.OK(t, err)
	check.Equal(t, "interim answer", strings.TrimSpace(line), "HTTP/1.1 100 Continue")
	_, err = second.in.ReadString('\n')
	check.OK(t, err)
	second.say("abc")
	status, _ := second.hear()
	check.Equal(t, "status", status, 200)
}

func TestHTTP2KeepsTheConnectionAndSeesThatAClientIsGone(t *testing.T) {
	g := newGate()
	l := weirhttp.Limit(g, 1, weirhttp.Queue(1), weirhttp.MaxWait(1<<62))
	var mu sync.Mutex
	connections := map[string]int{} // requests on each
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		connections[r.RemoteAddr]++
		mu.Unlock()
		l.ServeHTTP(w, r)
	}))
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}

	var wg sync.WaitGroup
	wg.Go(func() { check.Equal(t, "first", get(t.Context(), t, client, srv.URL, nil), 200) })
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	body, feed := io.Pipe() // never ends
	wg.Go(func() { check.Equal(t, "second", get(ctx, t, client, srv.URL, body), 0) })
	check.Until(t, "it waits", func() bool { return l.Stats().Waiting == 1 })
	for range 2 {
		check.Equal(t, "third", get(t.Context(), t, client, srv.URL, strings.NewReader(strings.Repeat("x", 1<<19))), 503)
	}
	mu.Lock()
	check.Equal(t, "connections", len(connections), 1) // of which the first request has one
	mu.Unlock()
	cancel()
	check.Until(t, "it is gone", func() bool { return l.Stats().Gone == 1 })
	check.OK(t, feed.Close())
	close(g.leave)
	wg.Wait()
}

func TestShutdownWithDrainServesWhatRunsAndRefusesWhatWaits(t *testing.T) {
	g := newGate()
	l := weirhttp.Limit(g, 1, weirhttp.MaxWait(1<<62))
	srv := serve(t, l)
	srv.Config.RegisterOnShutdown(l.Drain)
	var wg sync.WaitGroup
	wg.Go(func() { check.Equal(t, "first", get(context.Background(), t, srv.Client(), srv.URL, nil), 200) })
	<-g.entered
	refused := make(chan struct{})
	wg.Go(func() {
		defer close(refused)
		check.Equal(t, "second", get(context.Background(), t, srv.Client(), srv.URL, nil), 503)
	})
	check.Until(t, "it waits", func() bool { return l.Stats().Waiting == 1 })
	wg.Go(func() { check.OK(t, srv.Config.Shutdown(context.Background())) })
	<-refused
	close(g.leave)
	wg.Wait()
	check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Served: 1, Closed: 1})
}
