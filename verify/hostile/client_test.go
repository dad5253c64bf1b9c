package hostile_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// loopback listens on a port of the loopback interface.
func loopback(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	check.OK(tb, err)
	return l
}

// client is a connection of an attacker. What goes wrong with it is the attacker's business.
type client struct {
	net.Conn
	heard  check.Buffer  // what the server has sent so far
	closed chan struct{} // closed when the server sends no more; nil if the client does not read
}

// dial connects to the site. Without reads the answers are never read.
func (s *site) dial(reads bool) *client {
	s.Helper()
	c := new(client)
	if p, isPipe := s.listener.(*pipes); isPipe {
		c.Conn = p.dial()
	} else {
		conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", s.listener.Addr().String())
		check.OK(s, err)
		c.Conn = conn
	}
	if reads {
		c.closed = make(chan struct{})
		go func() {
			defer close(c.closed)
			_, _ = io.Copy(&c.heard, c.Conn) // a reset is no surprise
		}()
	}
	return c
}

func (c *client) send(text string) { _, _ = io.WriteString(c, text) }

// finish says that nothing more will be sent.
func (c *client) finish() {
	_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// reset breaks the connection off with a TCP reset.
func (c *client) reset() {
	if tcp, isTCP := c.Conn.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0)
	}
	c.hangUp()
}

// hangUp ends the connection.
func (c *client) hangUp() {
	_ = c.Close()
	if c.closed != nil {
		c.hear()
	}
}

// hear waits until the server closes the connection, and returns all that it has sent.
func (c *client) hear() string {
	within(func() { <-c.closed }) // the server closes a connection
	return c.heard.String()
}

// statuses returns the status of each answer that a server has sent. None of the requests was HEAD.
func statuses(all string) (codes []int) {
	in := bufio.NewReader(strings.NewReader(all))
	for {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return codes
		}
		codes = append(codes, answer.StatusCode)
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return codes
		}
	}
}

// visitor sends well-formed requests, each on a connection of its own.
type visitor struct {
	tb     testing.TB
	client http.Client
}

func (s *site) visitor() *visitor {
	transport := &http.Transport{DisableKeepAlives: true}
	if p, isPipe := s.listener.(*pipes); isPipe {
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }
	}
	return &visitor{s, http.Client{Transport: transport}}
}

// visit returns the status of the answer, or 0 if there was none, and how long the answer took.
func (v *visitor) visit(url, key string) (status int, took time.Duration) {
	begin := time.Now()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader("hello"))
	check.OK(v.tb, err)
	r.Header.Set("Key", key)
	r.Header.Set("Priority", "1")
	answer, err := v.client.Do(r)
	if err != nil {
		v.tb.Errorf("a visitor has got no answer: %v", err)
		return 0, time.Since(begin)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode == http.StatusOK && strings.HasSuffix(url, "/echo") && string(body) != "hello" {
		v.tb.Errorf("a visitor has got %q, %v", body, err)
	}
	return answer.StatusCode, time.Since(begin)
}
