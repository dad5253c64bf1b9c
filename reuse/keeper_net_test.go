package reuse_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// echo is a server that sends each line back, except one in fail of them, at which it drops the
// connection instead, or in the middle of the answer.
type echo struct {
	net.Listener
	fail     int
	accepted atomic.Int64
	all      sync.WaitGroup
}

func newEcho(t *testing.T, fail int) *echo {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback network: %v", err)
	}
	s := &echo{Listener: l, fail: fail}
	s.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			s.all.Go(func() { s.serve(conn) })
		}
	})
	return s
}

func (s *echo) serve(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		answer := lines.Text() + "\n"
		drops := rand.N(s.fail) == 0
		if drops {
			answer = answer[:rand.N(len(answer))]
		}
		if _, err := conn.Write([]byte(answer)); err != nil || drops {
			return
		}
	}
}

// catchUp returns when all connections that were made before have been accepted, and one more.
func (s *echo) catchUp(t *testing.T) {
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_ = (&endpoint{conn, bufio.NewReader(conn)}).ask("have you accepted me") // whatever it answers
}

// endpoint is a connection of a client.
type endpoint struct {
	net.Conn
	in *bufio.Reader
}

func (l *endpoint) ask(question string) error {
	if _, err := fmt.Fprintln(l, question); err != nil {
		return reuse.Broken(err)
	}
	answer, err := l.in.ReadString('\n')
	if err != nil {
		return reuse.Broken(err)
	}
	if answer != question+"\n" {
		return reuse.Broken(fmt.Errorf("asked %q, got %q", question, answer))
	}
	return nil
}

func TestAKeeperOutlivesAServerThatDropsItsConnections(t *testing.T) {
	const capacity, clients = 8, 40
	requests := check.Scale(250, 50)
	server := newEcho(t, 20)
	var open check.Gauge
	var dialled, hungUp atomic.Int64
	k := reuse.NewKeeper(reuse.KeeperConfig[*endpoint]{
		Capacity: capacity,
		Open: func(ctx context.Context) (*endpoint, error) {
			open.Enter()
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
			if err != nil {
				open.Leave()
				return nil, err
			}
			dialled.Add(1)
			return &endpoint{conn, bufio.NewReader(conn)}, nil
		},
		Close: func(l *endpoint) {
			check.OK(t, l.Close()) // a second time it fails
			hungUp.Add(1)
			open.Leave()
		},
		Check:       func(_ context.Context, l *endpoint) error { return l.ask("are you there") },
		CheckAfter:  time.Millisecond,
		IdleTimeout: time.Millisecond,
		Lifetime:    20 * time.Millisecond,
	})
	var answered, dropped atomic.Int64
	check.Within(time.Minute, func() {
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				for i := range requests {
					err := k.Use(t.Context(), func(l *endpoint) error { return l.ask(fmt.Sprint(client, " asks ", i)) })
					if err == nil {
						answered.Add(1)
					} else {
						dropped.Add(1)
					}
				}
			})
		}
		all.Wait()
		k.Close()
		server.catchUp(t)
		check.OK(t, server.Close())
		server.all.Wait()
	})
	s := k.Stats()
	check.Equal(t, "requests", answered.Load()+dropped.Load(), int64(clients*requests))
	check.Equal(t, "leases", s.Gets, int64(clients*requests))
	check.Equal(t, "discarded", s.Discarded, dropped.Load())
	check.Equal(t, "hung up", hungUp.Load(), dialled.Load())
	// One whose Open is cancelled by Close may have come through to the server.
	if others := server.accepted.Load() - 1 - dialled.Load(); others < 0 || others > s.Failed {
		t.Errorf("the server has accepted %d, dialled were %d, and %d in vain", server.accepted.Load()-1, dialled.Load(), s.Failed)
	}
	check.Equal(t, "opened", s.Opened, dialled.Load())
	check.Equal(t, "closed", s.Closed, dialled.Load())
	check.Equal(t, "left", open.Now.Load(), 0)
	if peak := open.Peak.Load(); peak > capacity {
		t.Errorf("%d connections at once", peak)
	}
	if dropped.Load() == 0 || answered.Load() < dropped.Load() {
		t.Errorf("%d answered, %d dropped: this test shows nothing", answered.Load(), dropped.Load())
	}
}
