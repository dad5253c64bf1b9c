package jets_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

// Each call ends by itself while the server does not answer, however long its context would have it wait.
func TestAServerThatDoesNotAnswerHoldsNoCallUp(t *testing.T) {
	t.Parallel()
	s, end := serve(t, server.Options{StoreDir: t.TempDir()})
	defer end()
	address, stall, hangUp := stalling(t, s.Addr().String())
	defer hangUp()
	conn, err := jets.Connect(func(opts ...nats.Option) (*nats.Conn, error) { return nats.Connect("nats://"+address, opts...) })
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer hangUp() // else Close waits for the server
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	q, err := jets.Open(ctx, conn, conform.Settings("stalled"))
	if err != nil {
		t.Fatal(err)
	}
	m := &backend.Message{DedupID: "id", Data: []byte("a")}
	if err := q.Put(ctx, m); err != nil {
		t.Fatal(err)
	}
	from, err := q.Receive()
	if err != nil {
		t.Fatal(err)
	}
	var d backend.Delivery
	if err := from.Pull(ctx, 1, time.Minute, func(it backend.Delivery) bool { d = it; return true }); err != nil {
		t.Fatal(err)
	}
	stall()
	jets.SetPatience(conn, 20*time.Millisecond) // nothing answers, however long a call waits
	for name, call := range map[string]func() error{
		"Put":      func() error { return q.Put(ctx, m) },
		"PutAll":   func() error { return q.PutAll(ctx, []*backend.Message{m, m}) },
		"Known":    func() error { _, err := q.Known(ctx, "id"); return err },
		"Remember": func() error { return q.Remember(ctx, "id", time.Now()) },
		"Peek":     func() error { _, err := q.Peek(ctx, 0); return err },
		"Later":    func() error { _, err := q.Later(ctx, 0); return err },
		"Next":     func() error { _, err := q.Next(ctx, 0); return err },
		"Letter":   func() error { _, err := q.Letter(ctx, 1); return err },
		"Forget":   func() error { return q.Forget(ctx, 1) },
		"Purge":    func() error { _, err := q.Purge(ctx); return err },
		"Stats":    func() error { _, err := q.Stats(ctx); return err },
		"Extend":   func() error { return d.Extend(ctx) },
		"Ack":      func() error { return d.Ack(ctx, true) },
		"Keep":     func() error { return d.Keep(ctx, new(backend.Record)) },
		"GiveBack": func() error { return d.GiveBack(ctx, nil, 0) },
		"Bury":     func() error { return d.Bury(ctx, new(backend.Record), 1) },
	} {
		begin := time.Now()
		if err := call(); err == nil || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("%s returns %v", name, err)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s takes %v", name, took)
		}
	}
}

// The ID of a message that is done is remembered also if the connection is lost meanwhile: the message itself is removed then, on the next one.
func TestAnIDIsRememberedThoughTheConnectionIsLost(t *testing.T) {
	t.Parallel()
	s, end := serve(t, server.Options{StoreDir: t.TempDir()})
	defer end()
	address, stall, hangUp := stalling(t, s.Addr().String())
	defer hangUp()
	conn, err := jets.Connect(func(opts ...nats.Option) (*nats.Conn, error) {
		return nats.Connect("nats://"+address+","+s.ClientURL(), append(opts, nats.DontRandomize(), nats.ReconnectWait(time.Millisecond))...)
	})
	noError(t, err)
	defer conn.Close()
	q := openOn(t, conn, "interrupted")
	stall()
	remembered := make(chan error, 1)
	go func() { remembered <- q.Remember(t.Context(), "id", time.Now()) }()
	for jets.Calls(conn) == 0 {
		time.Sleep(time.Millisecond)
	}
	hangUp()
	noError(t, <-remembered)
	known, err := q.Known(t.Context(), "id")
	noError(t, err)
	is(t, "the ID is known", known, true)
}

// stalling listens for clients of the server at that address, and hands on what both say until stall is called. end ends the connections.
func stalling(t *testing.T, to string) (address string, stall, end func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	stalled := make(chan struct{})
	hand := func(to, from net.Conn) {
		buf := make([]byte, 1<<16)
		for {
			n, err := from.Read(buf)
			select {
			case <-stalled:
				_, _ = io.Copy(io.Discard, from) // until the test ends
				return
			default:
			}
			if err != nil {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				return // the client says so
			}
			mu.Lock()
			open = append(open, client, server)
			mu.Unlock()
			all.Go(func() { hand(server, client) })
			all.Go(func() { hand(client, server) })
		}
	})
	return l.Addr().String(), sync.OnceFunc(func() { close(stalled) }), sync.OnceFunc(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
}
