package weirhttp_test

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

func explode() { panic(errBoom) }

// handler is a handler that does what f does.
func handler(f func()) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f() })
}

// answerOf returns what h answers to a request that net/http has nothing to do with.
func answerOf(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func aGet(t testing.TB) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
}

// refused fails the test unless w is the answer to a request that did not run.
func refused(t testing.TB, w *httptest.ResponseRecorder) {
	t.Helper()
	check.Equal(t, "status", w.Code, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("the answer has no Retry-After")
	}
}

// server is one on a loopback port whose log can be looked at once it is closed.
type server struct {
	*httptest.Server
	log check.Buffer
}

// startServer starts a server that the test closes at its end.
func startServer(t testing.TB, h http.Handler, start func(*httptest.Server)) *server {
	s := &server{Server: httptest.NewUnstartedServer(h)}
	s.Config.ErrorLog = log.New(&s.log, "", 0)
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

// protocols are those that net/http speaks.
var protocols = []struct {
	name  string
	start func(*httptest.Server)
}{
	{"HTTP1", (*httptest.Server).Start},
	{"HTTP2", func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	}},
}

// body gets the whole answer to a GET.
func (s *server) body(t testing.TB, path string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client().Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	return string(b), err
}

// dial makes a connection to the server, and sends what is to be sent.
func (s *server) dial(t testing.TB, send string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String()) //nolint:noctx // a loopback port
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, send); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}
