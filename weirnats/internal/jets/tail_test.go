package jets_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

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
func dial(t *testing.T, s *server.Server) *jets.Conn {
	conn, err := jets.Connect(func(opts ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(s.ClientURL(), append(opts, nats.ReconnectWait(time.Millisecond), nats.ReconnectJitter(0, 0))...)
	})
	noError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func noError(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// A server comes back without the last messages, which it has delivered, as after a disk that was full. Others get their numbers, and stay when the former ones are done.
func TestWhatIsDoneIsNotTheMessageThatHasItsNumberNow(t *testing.T) {
	o := server.Options{StoreDir: t.TempDir()}
	s, end := serve(t, o)
	o.Port = s.Addr().(*net.TCPAddr).Port
	conn := dial(t, s)
	q, err := jets.Open(t.Context(), conn, conform.Settings("tail"))
	noError(t, err)
	put := func(text string) { noError(t, q.Put(t.Context(), &backend.Message{Data: []byte(text)})) }
	put("first")
	files, err := filepath.Glob(filepath.Join(o.StoreDir, "jetstream", "*", "streams", "weir_q_tail", "msgs", "1.blk"))
	noError(t, err)
	whole, err := os.Stat(files[0])
	noError(t, err)
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
	end()
	noError(t, os.Truncate(files[0], whole.Size()))
	noError(t, os.Remove(filepath.Join(filepath.Dir(files[0]), "index.db"))) // a server that cannot write leaves none that knows of them
	_, end = serve(t, o)
	defer end()
	defer conn.Close() // before the server ends
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

// A server is killed while it writes what describes a stream that gets the subjects of messages with keys, and passes the stream over when it starts. It has its messages when the queue is opened.
func TestAServerThatIsKilledWhileTheSubjectsChangeKeepsTheMessages(t *testing.T) {
	o := server.Options{StoreDir: t.TempDir()}
	s, end := serve(t, o)
	o.Port = s.Addr().(*net.TCPAddr).Port
	conn := dial(t, s)
	open := func() backend.Queue {
		q, err := jets.Open(t.Context(), conn, conform.Settings("half"))
		noError(t, err)
		return q
	}
	q := open()
	for range 3 {
		noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("a")}))
	}
	sum := filepath.Join(o.StoreDir, "jetstream", "$G", "streams", "weir_q_half", "meta.sum")
	before, err := os.ReadFile(sum)
	noError(t, err)
	noError(t, jets.Widen(t.Context(), q))
	end()
	noError(t, os.WriteFile(sum, before, 0o600))
	_, end = serve(t, o)
	defer end()
	defer conn.Close()
	if err := q.Put(t.Context(), &backend.Message{Data: []byte("b")}); err == nil {
		t.Error("the server has the stream")
	}
	q = open()
	noError(t, q.Put(t.Context(), &backend.Message{Key: "k", Data: []byte("b")}))
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
