package jets_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/embed"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

func TestMain(m *testing.M) {
	check.Overlap()
	goleak.VerifyTestMain(m)
}

// start returns a server of the test.
func start(t *testing.T) *embed.Server {
	s, err := embed.Acquire(t.TempDir(), embed.Settings{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Release(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, server *embed.Server, s backend.Settings) (backend.Queue, error) {
	conn, err := jets.Connect(server.Connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return jets.Open(t.Context(), conn, s)
}

// plain runs a test as it is.
func plain(t *testing.T, test func(*testing.T)) { test(t) }

// opens returns what opens queues of a server.
func opens(server *embed.Server) func(t *testing.T, s backend.Settings) backend.Queue {
	return func(t *testing.T, s backend.Settings) backend.Queue {
		q, err := open(t, server, s)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
}

func TestJetStreamConforms(t *testing.T) {
	t.Parallel()
	conform.Run(t, plain, opens(start(t)))
}

func TestLaterOnJetStreamConforms(t *testing.T) {
	t.Parallel()
	conform.Later(t, plain, opens(start(t)), func(t *testing.T, q backend.Queue) {
		if err := jets.MoveHalf(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	})
}

// The process that was to make the partitions was killed.
func TestAQueueThatHasItsSubjectsAndNoPartitionOpens(t *testing.T) {
	t.Parallel()
	server := start(t)
	s := backend.Settings{Name: "wide", Replicas: 1, MaxMessages: 10, MaxBytes: -1, Window: time.Minute, Lease: time.Minute, Partitions: 2}
	first, err := open(t, server, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := jets.Widen(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second, err := open(t, server, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []backend.Queue{second, first} {
		if err := q.Put(t.Context(), &backend.Message{Key: "k", Codec: "json", Data: []byte("1")}); err != nil {
			t.Error(err)
		}
		if n, err := q.Partitions(t.Context()); n != s.Partitions || err != nil {
			t.Errorf("%d partitions, %v", n, err)
		}
	}
}

// Another program has deleted the queue and made it anew, without what messages with keys need.
func TestAQueueThatIsMadeAnewTakesKeysAgain(t *testing.T) {
	t.Parallel()
	server := start(t)
	s := backend.Settings{Name: "anew", Replicas: 1, MaxMessages: 100, MaxBytes: -1, Window: time.Minute, Lease: time.Minute, Partitions: 2}
	put := func(q backend.Queue) error { return q.Put(t.Context(), &backend.Message{Key: "k", Data: []byte("1")}) }
	for name, call := range map[string]func(q backend.Queue) error{
		"Put": put,
		"PutEach, the second time": func(q backend.Queue) error {
			m := &backend.Message{Key: "k", Data: []byte("1")}
			_ = q.PutEach(t.Context(), []*backend.Message{m})
			return q.PutEach(t.Context(), []*backend.Message{m})[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := open(t, server, s)
			noError(t, err)
			noError(t, put(q))
			c, err := server.Connect()
			noError(t, err)
			defer c.Close()
			js, err := jetstream.New(c)
			noError(t, err)
			for _, stream := range []string{"weir_q_anew", "weir_dead_anew", "weir_tries_anew", "weir_later_anew"} {
				noError(t, js.DeleteStream(t.Context(), stream))
			}
			_, err = open(t, server, s)
			noError(t, err)
			noError(t, call(q))
		})
	}
}

// Any number of processes may serve a queue: more than wait for a consumer by the server's default.
func TestManyProcessesMoveMessages(t *testing.T) {
	t.Parallel()
	q, err := open(t, start(t), backend.Settings{Name: "many", Replicas: 1, MaxMessages: 10, MaxBytes: -1, Window: time.Minute, Lease: time.Minute, Partitions: 1})
	noError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var movers sync.WaitGroup
	var failed atomic.Int32
	for range 520 {
		movers.Go(func() {
			if q.Move(ctx, func(context.Context, *backend.Message) (bool, error) { return false, nil }) != nil {
				failed.Add(1)
			}
		})
	}
	movers.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d cannot move", n)
	}
}

// Several processes begin to move what has become due meanwhile. Messages with a key come into the queue in the order in which they became due.
func TestManyProcessesMoveMessagesInOrder(t *testing.T) {
	t.Parallel()
	server := start(t)
	s := backend.Settings{Name: "ordered", Replicas: 1, MaxMessages: 1000, MaxBytes: -1, Window: time.Minute, Lease: time.Minute, Partitions: 1}
	q, err := open(t, server, s)
	noError(t, err)
	const n = 200
	for i := range n {
		noError(t, q.Put(t.Context(), &backend.Message{Key: "k", Data: []byte(strconv.Itoa(i)), Due: time.Now().Add(100 * time.Millisecond)}))
	}
	time.Sleep(2 * time.Second) // all are due
	all := func(next func(ctx context.Context, after uint64) (*backend.Kept, error)) (values []string) {
		for after := uint64(0); ; {
			k, err := next(t.Context(), after)
			if errors.Is(err, backend.ErrNotFound) {
				return values
			}
			noError(t, err)
			values = append(values, string(k.Data))
			after = k.Number
		}
	}
	due := all(q.Later)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var movers sync.WaitGroup
	for range 4 {
		q, err := open(t, server, s)
		noError(t, err)
		movers.Go(func() {
			if err := q.Move(ctx, func(context.Context, *backend.Message) (bool, error) { return false, nil }); err != nil {
				t.Error(err)
			}
		})
	}
	movers.Wait()
	if moved := all(q.Peek); len(moved) != n || !slices.Equal(moved, due) {
		t.Errorf("%d messages came in the order %v, became due in the order %v", len(moved), moved, due)
	}
}

// So it is in a queue of an earlier version, in which several processes moved messages at once.
func TestAQueueOfBeforeIsMovedByOneProcess(t *testing.T) {
	t.Parallel()
	server := start(t)
	s := conform.Settings("unpinned")
	_, err := open(t, server, s)
	noError(t, err)
	c, err := server.Connect()
	noError(t, err)
	defer c.Close()
	js, err := jetstream.New(c)
	noError(t, err)
	due := func() jetstream.ConsumerConfig {
		of, err := js.Consumer(t.Context(), "weir_later_unpinned", "due")
		noError(t, err)
		return of.CachedInfo().Config
	}
	before := due()
	before.PriorityPolicy, before.PriorityGroups, before.PinnedTTL = jetstream.PriorityPolicyNone, nil, 0
	_, err = js.UpdateConsumer(t.Context(), "weir_later_unpinned", before)
	noError(t, err)
	is(t, "policy before", due().PriorityPolicy, jetstream.PriorityPolicyNone)
	_, err = open(t, server, s)
	noError(t, err)
	is(t, "policy", due().PriorityPolicy, jetstream.PriorityPolicyPinned)
}

// The codec of a queue stands in it, and travels with none of its messages. What the queue was made with stays so, whatever opens it later; what a program of before has made says nothing.
func TestMessagesNameTheirCodecWhereItIsNotThatOfTheQueue(t *testing.T) {
	t.Parallel()
	server := start(t)
	s := conform.Settings("codecs")
	s.Codec = "first"
	for name, forget := range map[string]bool{"codecs": false, "before": true} {
		s.Name = name
		if _, err := open(t, server, s); err != nil {
			t.Fatal(err)
		}
		c, err := server.Connect()
		noError(t, err)
		defer c.Close()
		js, err := jetstream.New(c)
		noError(t, err)
		stream, err := js.Stream(t.Context(), "weir_q_"+name)
		noError(t, err)
		if forget {
			config := stream.CachedInfo().Config
			delete(config.Metadata, "weir.codec")
			_, err := js.UpdateStream(t.Context(), config)
			noError(t, err)
		}
		s.Codec = "second"
		q, err := open(t, server, s)
		noError(t, err)
		for _, codec := range []string{"first", "second", "first"} {
			noError(t, q.Put(t.Context(), &backend.Message{Codec: codec}))
		}
		_, err = js.Publish(t.Context(), "weir.q."+name+".any", nil) // by another program
		noError(t, err)
		want := []struct{ header, codec string }{{"", "first"}, {"second", "second"}, {"", "first"}, {"", "first"}}
		if forget {
			want = []struct{ header, codec string }{{"first", "first"}, {"second", "second"}, {"first", "first"}, {"", ""}}
		}
		for i, w := range want {
			m, err := stream.GetMsg(t.Context(), uint64(i)+1)
			noError(t, err)
			kept, err := q.Peek(t.Context(), uint64(i))
			noError(t, err)
			if got := m.Header.Get("Weir-Codec"); got != w.header || kept.Codec != w.codec {
				t.Errorf("%s: message %d has the header %q and the codec %q, want %v", name, i+1, got, kept.Codec, w)
			}
		}
		s.Codec = "first"
	}
}

// Only an answer that says no more than a number is taken apart without a look at the rest, and the server's usual one is of that kind.
func TestAnswersThatSayMoreAreDecoded(t *testing.T) {
	t.Parallel()
	server := start(t)
	_, err := open(t, server, conform.Settings("answers"))
	noError(t, err)
	c, err := server.Connect()
	noError(t, err)
	defer c.Close()
	usual, err := c.Request("weir.q.answers.any", nil, time.Minute)
	noError(t, err)
	for answer, want := range map[string]uint64{
		string(usual.Data):                                    1,
		`{"stream":"weir_q_a", "seq":1204}`:                   1204,
		`{"stream":"weir_q_a","domain":"d","seq":1204}`:       1204,
		`{"stream":"weir_q_a","seq":1204,"duplicate": true}`:  0,
		`{"stream":"weir_q_a","seq":4,"batch":"b","count":2}`: 0,
		`{"stream":"weir_q_a","seq":}`:                        0,
		`{"error":{"code":503,"err_code":10077},"seq":12}`:    0,
		`{"stream":"weir_q_a"}`:                               0,
		"":                                                    0,
	} {
		if number, ok := jets.Accepted([]byte(answer)); ok != (want > 0) || number != want {
			t.Errorf("%s: %d, %v", answer, number, ok)
		}
	}
}

// Each answer of the server takes a while, as where it is far. A mover still moves as many messages as it takes at once.
func TestAFarServerDoesNotKeepMessagesFromMoving(t *testing.T) {
	t.Parallel()
	q, err := open(t, start(t), backend.Settings{Name: "far", Replicas: 1, MaxMessages: 1000, MaxBytes: -1, Window: time.Minute, Lease: time.Second, Partitions: 1})
	noError(t, err)
	const n = 100
	for range n {
		noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("1"), Due: time.Now().Add(100 * time.Millisecond)}))
	}
	time.Sleep(time.Second) // all are due
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	known := func(ctx context.Context, _ *backend.Message) (bool, error) {
		select {
		case <-time.After(50 * time.Millisecond):
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	for ctx.Err() == nil {
		if err := q.Move(ctx, known); err != nil {
			t.Log(err) // as a slow machine takes longer than part of the lease
		}
	}
	s, err := q.Stats(t.Context())
	noError(t, err)
	if s.Messages != n {
		t.Errorf("%d of %d messages were moved", s.Messages, n)
	}
}

// The longest window there is holds for good.
func TestAnIDIsRememberedForGood(t *testing.T) {
	t.Parallel()
	q, err := open(t, start(t), backend.Settings{Name: "ids", Replicas: 1, MaxMessages: 10, MaxBytes: -1, Window: math.MaxInt64, Lease: time.Minute, Partitions: 1})
	noError(t, err)
	noError(t, q.Remember(t.Context(), "an ID", time.Now().Add(-time.Second)))
	time.Sleep(1500 * time.Millisecond) // the server removes what has no time left
	known, err := q.Known(t.Context(), "an ID")
	noError(t, err)
	if !known {
		t.Error("it is not known")
	}
}
