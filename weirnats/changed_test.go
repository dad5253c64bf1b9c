package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// An operator changes or removes parts of a queue, or the server refuses a login for a while.

// operator returns what an operator uses.
func operator(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url)
	noError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	noError(t, err)
	return js
}

// When the stream of dead letters is made again, its numbers begin again. The Replay of such a number is not that of the letter before.
func TestReplayOfANumberThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	p := newPool(t, 1, weir.OnError(func(error) {}))
	for _, value := range []string{"first", "second"} {
		q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(s.ClientURL()), quiet, weirnats.Window(time.Hour))
		noError(t, err)
		noError(t, q.Put(t.Context(), value))
		stop := serve(t, q, p, func(context.Context, string) error { return weir.Permanent(errors.New("bad")) })
		drained(t, q)
		stop()
		noError(t, q.Replay(t.Context(), "1"))
		var got list[string]
		stop = serve(t, q, p, func(_ context.Context, v string) error { got.add(v); return nil })
		drained(t, q)
		stop()
		noError(t, q.Close())
		if all := got.take(); len(all) != 1 || all[0] != value {
			t.Fatalf("%q was replayed, and Serve got %q", value, all)
		}
		noError(t, operator(t, s.ClientURL()).DeleteStream(t.Context(), "weir_dead_r"))
	}
}

func TestPutIntoAQueueThatIsGone(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(s.ClientURL()), quiet)
	noError(t, err)
	t.Cleanup(func() { noError(t, q.Close()) })
	noError(t, operator(t, s.ClientURL()).DeleteStream(t.Context(), "weir_q_r"))
	for name, call := range map[string]func(ctx context.Context) error{
		"Put":    func(ctx context.Context) error { return q.Put(ctx, "a") },
		"TryPut": func(ctx context.Context) error { return q.TryPut(ctx, "a") },
		"PutAll": func(ctx context.Context) error { _, err := q.PutAll(ctx, []string{"a", "b"}, nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the client looks again for what is gone, and that takes half a second
			isError(t, call(t.Context()), weirnats.ErrGone)
		})
	}
}

// Serve ends also where there are messages with keys, which other consumers deliver.
func TestServeEndsWhenTheConsumerOfMessagesWithoutAKeyIsRemoved(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	p := newPool(t, 2)
	q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(s.ClientURL()), quiet, weirnats.Partitions(2), weirnats.Lease(3*time.Second))
	noError(t, err)
	defer q.Close()
	var calls atomic.Int32
	ended := make(chan error, 1)
	noError(t, q.Put(t.Context(), "a", weirnats.Key("k")))
	go func() {
		ended <- q.Serve(t.Context(), p, func(context.Context, string) error { calls.Add(1); return nil })
	}()
	within(t, "called", func() bool { return calls.Load() == 1 })
	noError(t, operator(t, s.ClientURL()).DeleteConsumer(t.Context(), "weir_q_r", "work"))
	select {
	case err := <-ended:
		isError(t, err, weirnats.ErrGone)
	case <-time.After(limit):
		t.Fatal("Serve goes on")
	}
}

func TestTheFirstKeyKeepsWhatAnOperatorHasChanged(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(s.ClientURL()), quiet, weirnats.Partitions(1), weirnats.MaxMessages(100))
	noError(t, err)
	defer q.Close()
	js := operator(t, s.ClientURL())
	stream, err := js.Stream(t.Context(), "weir_q_r")
	noError(t, err)
	c := stream.CachedInfo().Config
	c.MaxMsgs, c.Description = 1000, "for a full day"
	_, err = js.UpdateStream(t.Context(), c)
	noError(t, err)
	noError(t, q.Put(t.Context(), "a", weirnats.Key("k")))
	info, err := stream.Info(t.Context())
	noError(t, err)
	equal(t, "most messages", info.Config.MaxMsgs, 1000)
	equal(t, "description", info.Config.Description, c.Description)
}

// For a while the server has another password, as when both are changed in the wrong order.
func TestServeGoesOnAfterRefusedLogins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func(port int, password string) (*server.Server, func()) {
		s, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, Username: "u", Password: password,
		})
		noError(t, err)
		s.Start()
		if !s.ReadyForConnections(limit) {
			t.Fatal("the server does not start")
		}
		return s, func() { s.Shutdown(); s.WaitForShutdown() }
	}
	s, end := start(server.RANDOM_PORT, "right")
	port := s.Addr().(*net.TCPAddr).Port
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	var refused atomic.Int32
	login := []nats.Option{
		nats.UserInfo("u", "right"), nats.NoReconnect(), nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthorization) {
				refused.Add(1)
			}
		}),
	}
	p := newPool(t, 1)
	q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(url, login...), quiet)
	noError(t, err)
	defer q.Close()
	var calls atomic.Int32
	stop := serve(t, q, p, func(context.Context, string) error { calls.Add(1); return nil })
	defer stop()
	end()
	_, end = start(port, "other")
	within(t, "refused", func() bool { return refused.Load() >= 4 })
	end()
	_, end = start(port, "right")
	t.Cleanup(end) // after stop, which would wait for it
	within(t, "put", func() bool { return q.Put(t.Context(), "a") == nil })
	within(t, "called", func() bool { return calls.Load() > 0 })
}

// dialer makes connections for a client.
type dialer func(network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// What listens at the address says nothing.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer l.Close()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	dial := dialer(func(network, address string) (net.Conn, error) {
		time.AfterFunc(time.Millisecond, func() { cancel(enough) }) // the client waits for the first words of the server
		return net.Dial(network, address)
	})
	_, err = weirnats.Open[string](ctx, "r", weirnats.Server("nats://"+l.Addr().String(), nats.SetCustomDialer(dial), nats.Timeout(limit)), quiet)
	isError(t, err, enough)
}
