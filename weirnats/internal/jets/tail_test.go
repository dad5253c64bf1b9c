package jets_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

// serve starts a server with JetStream.
func serve(t *testing.T, o server.Options) (s *server.Server, end func()) {
	o.Host, o.JetStream, o.NoSigs, o.NoLog = "127.0.0.1", true, true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&o)
	noError(t, err)
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// dial connects to a server, and again when another one has taken its place.
func dial(t *testing.T, s *server.Server, more ...nats.Option) (conn *jets.Conn, client *nats.Conn) {
	conn, err := jets.Connect(func(opts ...nats.Option) (_ *nats.Conn, err error) {
		opts = append(opts, nats.ReconnectWait(time.Millisecond), nats.ReconnectJitter(0, 0))
		client, err = nats.Connect(s.ClientURL(), append(opts, more...)...)
		return client, err
	})
	noError(t, err)
	t.Cleanup(conn.Close)
	return conn, client
}

// onServer opens a queue on a server of its own, which keeps its files in store. The function again changes them while the client has no server, and returns when it has one: what is
// asked on a connection that is lost fails.
func onServer(t *testing.T, name string, more ...nats.Option) (q backend.Queue, conn *jets.Conn, store string, again func(change func())) {
	o := server.Options{StoreDir: t.TempDir()}
	s, end := serve(t, o)
	o.Port = s.Addr().(*net.TCPAddr).Port
	conn, client := dial(t, s, more...)
	connected, lost := client.StatusChanged(nats.CONNECTED), client.StatusChanged(nats.RECONNECTING)
	return openOn(t, conn, name), conn, o.StoreDir, func(change func()) {
		end()
		<-lost
		change()
		s, end := serve(t, o)
		t.Cleanup(end)
		t.Cleanup(conn.Close) // before the server ends
		limit := time.After(time.Minute)
		for client.ConnectedServerId() != s.ID() {
			select {
			case <-connected:
			case <-limit:
				t.Fatal("the client does not connect again")
			}
		}
	}
}

func openOn(t *testing.T, conn *jets.Conn, name string) backend.Queue {
	q, err := jets.Open(t.Context(), conn, conform.Settings(name))
	noError(t, err)
	return q
}

func noError(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// tail returns a function that takes away what a stream has from now on, as a server does that cannot write it. It is called when that has ended.
func tail(t *testing.T, store, stream string) (forget func()) {
	folder := filepath.Join(store, "jetstream", "$G", "streams", stream, "msgs")
	file := filepath.Join(folder, "1.blk")
	whole, err := os.Stat(file)
	noError(t, err)
	return func() {
		noError(t, os.Truncate(file, whole.Size()))
		noError(t, os.Remove(filepath.Join(folder, "index.db"))) // which knows of it
	}
}

// A server comes back without the last messages, which it has delivered, as after a disk that was full. Others get their numbers, and stay when the former ones are done.
func TestWhatIsDoneIsNotTheMessageThatHasItsNumberNow(t *testing.T) {
	t.Parallel()
	q, _, store, again := onServer(t, "tail")
	put := func(text string) { noError(t, q.Put(t.Context(), &backend.Message{Data: []byte(text)})) }
	put("first")
	forget := tail(t, store, "weir_q_tail")
	const n = 4
	for i := range n {
		put(fmt.Sprint("former ", i))
	}
	r, err := q.Receive()
	noError(t, err)
	pull := func() (d backend.Delivery) {
		noError(t, r.Pull(t.Context(), 1, 10*time.Second, func(got backend.Delivery) bool { d = got; return true }))
		return d
	}
	var all []backend.Delivery
	for range n + 1 {
		all = append(all, pull())
	}
	again(forget)
	for i := range n {
		text := fmt.Sprint("new ", i)
		put(text)
		d := pull()
		is(t, "message", string(d.Message().Data), text)
		is(t, "number", d.Sequence(), all[i+1].Sequence())
	}
	noError(t, all[0].Ack(t.Context(), true))
	noError(t, all[1].Ack(t.Context(), true))
	noError(t, all[2].Ack(t.Context(), false))
	noError(t, all[3].Bury(t.Context(), &backend.Record{}, 1))
	noError(t, all[4].Extend(t.Context()))
	noError(t, all[4].GiveBack(t.Context(), nil, 0))
	noError(t, r.Close(t.Context()))
	st, err := q.Stats(t.Context())
	noError(t, err)
	is(t, "messages", st.Messages, n)
	is(t, "dead letters", st.Dead, 1)
}

// So it is with the records of messages that have failed, among which there are IDs.
func TestTheEndOfAMessageRemovesNoOtherRecord(t *testing.T) {
	t.Parallel()
	q, _, store, again := onServer(t, "records")
	noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("a")}))
	noError(t, q.Remember(t.Context(), "first", time.Now()))
	forget := tail(t, store, "weir_tries_records")
	r, err := q.Receive()
	noError(t, err)
	var d backend.Delivery
	noError(t, r.Pull(t.Context(), 1, 10*time.Second, func(got backend.Delivery) bool { d = got; return true }))
	noError(t, d.Keep(t.Context(), &backend.Record{Begun: 1}))
	again(forget)
	noError(t, q.Remember(t.Context(), "second", time.Now()))
	noError(t, d.Ack(t.Context(), true))
	for _, id := range []string{"first", "second"} {
		known, err := q.Known(t.Context(), id)
		noError(t, err)
		is(t, id+" is known", known, true)
	}
}

// What asks on the next connection, or while there is none, goes on when the client says late that the one before is lost.
func TestALossThatIsToldLateEndsNothingThatHasBegunSince(t *testing.T) {
	t.Parallel()
	late, lost, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var url string
	q, conn, _, again := onServer(t, "late", func(o *nats.Options) error {
		url = o.Servers[0]
		onLoss, onReturn := o.DisconnectedErrCB, o.ReconnectedCB
		tellLoss, tellReturn := sync.OnceFunc(func() { close(lost) }), sync.OnceFunc(func() { close(back) })
		o.DisconnectedErrCB = func(c *nats.Conn, err error) {
			<-late
			onLoss(c, err)
			tellLoss()
		}
		o.ReconnectedCB = func(c *nats.Conn) {
			onReturn(c)
			tellReturn()
		}
		return nil
	})
	other := openOn(t, conn, "other")
	r, err := q.Receive()
	noError(t, err)
	pulled := make(chan error, 2)
	pull := func() {
		pulled <- r.Pull(t.Context(), 1, time.Minute, func(backend.Delivery) bool { return true })
	}
	again(func() {
		go pull()
		for jets.Pulls(r) == 0 {
			runtime.Gosched()
		}
	})
	direct, err := nats.Connect(url)
	noError(t, err)
	defer direct.Close()
	js, err := jetstream.New(direct)
	noError(t, err)

	go pull()
	for begun := false; !begun; {
		c, err := js.Consumer(t.Context(), "weir_q_late", "work")
		noError(t, err)
		begun = c.CachedInfo().NumWaiting == 2
	}
	noError(t, js.DeleteStream(t.Context(), "weir_q_other"))
	asked, err := direct.SubscribeSync("weir.q.other.any") // in the place of the stream
	noError(t, err)
	noError(t, direct.Flush())
	put := make(chan error, 1)
	go func() { put <- other.Put(t.Context(), &backend.Message{}) }()
	m, err := asked.NextMsg(time.Minute)
	noError(t, err)

	close(late)
	<-lost
	<-back
	noError(t, m.Respond([]byte(`{"stream":"weir_q_other","seq":1}`)))
	noError(t, <-put)
	for range 2 {
		noError(t, q.Put(t.Context(), &backend.Message{}))
		noError(t, <-pulled)
	}
}

// Messages that meet no stream are sent again together.
func TestManyMessagesForAStreamThatIsGoneAreRefusedSoon(t *testing.T) {
	t.Parallel()
	s, end := serve(t, server.Options{StoreDir: t.TempDir()})
	defer end()
	conn, _ := dial(t, s)
	defer conn.Close()
	q := openOn(t, conn, "gone")
	c, err := nats.Connect(s.ClientURL())
	noError(t, err)
	defer c.Close()
	js, err := jetstream.New(c)
	noError(t, err)
	noError(t, js.DeleteStream(t.Context(), "weir_q_gone"))
	began := time.Now()
	for _, err := range q.PutEach(t.Context(), slices.Repeat([]*backend.Message{{Data: []byte("a")}}, 100)) {
		is(t, "error", err, backend.ErrGone)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it takes %v", took)
	}
	q = openOn(t, conn, "gone")
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, err := range q.PutEach(ctx, []*backend.Message{{}, {}}) {
		is(t, "error", err, cause)
	}
	noError(t, q.Put(t.Context(), &backend.Message{}))
	st, err := q.Stats(t.Context())
	noError(t, err)
	is(t, "messages", st.Messages, 1)
}

// A server is killed while it writes what describes a stream that gets the subjects of messages with keys, and passes the stream over when it starts. It has its messages when the queue is opened.
func TestAServerThatIsKilledWhileTheSubjectsChangeKeepsTheMessages(t *testing.T) {
	t.Parallel()
	q, conn, store, again := onServer(t, "half")
	for range 3 {
		noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("a")}))
	}
	sum := filepath.Join(store, "jetstream", "$G", "streams", "weir_q_half", "meta.sum")
	before, err := os.ReadFile(sum)
	noError(t, err)
	noError(t, q.Put(t.Context(), &backend.Message{Key: "k", Data: []byte("b")})) // which a killed server would not have yet, but one that lost its power may
	again(func() { noError(t, os.WriteFile(sum, before, 0o600)) })
	if err := q.Put(t.Context(), &backend.Message{Data: []byte("b")}); err == nil {
		t.Error("the server has the stream")
	}
	q = openOn(t, conn, "half")
	n, err := q.Partitions(t.Context())
	noError(t, err)
	is(t, "partitions", n, 4)
	st, err := q.Stats(t.Context())
	noError(t, err)
	is(t, "messages", st.Messages, 4)
}

func is[V comparable](t *testing.T, what string, got, want V) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
