package weirhttp_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// pipes is a listener within a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.conns <- far
	return near
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// This is what the package documentation says of net/http.
func TestThatAClientHungUpIsSeenOnlyWithoutAnUnreadBody(t *testing.T) {
	for name, tc := range map[string]struct {
		say  string
		want weirhttp.Stats // after the client has hung up, and when MaxWait is over
	}{
		"no body":     {getLine, weirhttp.Stats{Limit: 1, Running: 1, Gone: 1}},
		"unread body": {postHead + "3\r\n\r\nabc", weirhttp.Stats{Limit: 1, Running: 1, Waiting: 1}},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			g := newGate()
			l := weirhttp.Limit(g, 1, weirhttp.MaxWait(time.Minute))
			srv, p := &http.Server{Handler: l, ErrorLog: log.New(io.Discard, "", 0)}, newPipes()
			serving := make(chan error)
			go func() { serving <- srv.Serve(p) }()
			first, second := p.dial(), p.dial()
			_, err := io.WriteString(first, getLine)
			check.OK(t, err)
			<-g.entered
			_, err = io.WriteString(second, tc.say)
			check.OK(t, err)
			synctest.Wait()
			check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Waiting: 1})

			check.OK(t, second.Close())
			time.Sleep(time.Minute - 1)
			synctest.Wait()
			check.Equal(t, "stats after the client has hung up", l.Stats(), tc.want)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			check.Equal(t, "waiting in the end", l.Stats().Waiting, 0)

			check.OK(t, first.Close())
			close(g.leave)
			check.OK(t, srv.Shutdown(context.Background()))
			check.Error(t, <-serving, http.ErrServerClosed)
		})
	}
}
