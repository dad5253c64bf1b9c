package jets_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

// withLeaves starts a server that has leaf nodes. It sends messages for 2 s also to a pull whose subscription is gone: what may happen with any server, if the subscription ends at the
// same moment, happens each time. The function miss makes a pull that nothing receives, before it calls put.
func withLeaves(t *testing.T) (s *server.Server, miss func(t *testing.T, q backend.Queue, keyed bool, put func())) {
	s, end := serve(t, server.Options{StoreDir: t.TempDir(), LeafNode: server.LeafNodeOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT}})
	t.Cleanup(end)
	client, err := nats.Connect(s.ClientURL())
	noError(t, err)
	t.Cleanup(client.Close)
	return s, func(t *testing.T, q backend.Queue, keyed bool, put func()) {
		subject, ask := jets.Ask(q, keyed)
		noError(t, client.PublishRequest(subject, "nobody", []byte(ask)))
		noError(t, client.Flush())
		put()
	}
}

func TestADeliveryThatMeetsNoProcessDoesNotCount(t *testing.T) {
	t.Parallel()
	s, miss := withLeaves(t)
	conform.Missed(t, plain, func(t *testing.T, settings backend.Settings) backend.Queue {
		conn, _ := dial(t, s)
		q, err := jets.Open(t.Context(), conn, settings)
		noError(t, err)
		return q
	}, miss)
}

// A server that has started again may deliver again what was done, and early. So a process that has connected since the message was put takes no delivery for one that met no process.
func TestAProcessThatDoesNotKnowWhetherTheServerHasStartedAgainCountsADelivery(t *testing.T) {
	t.Parallel()
	s, miss := withLeaves(t)
	conn, _ := dial(t, s)
	q := openOn(t, conn, "q")
	miss(t, q, false, func() { noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("a")})) })
	conn, _ = dial(t, s)
	r, err := openOn(t, conn, "q").Receive()
	noError(t, err)
	var d backend.Delivery
	noError(t, r.Pull(t.Context(), 1, 10*time.Second, func(got backend.Delivery) bool { d = got; return true }))
	is(t, "deliveries", d.Count(), 2)
	record, err := d.Record(t.Context())
	noError(t, err)
	is(t, "those that do not count", record.Returned, 0)
	noError(t, r.Close(t.Context()))
}

// A message is not older than the connection because the server's clock comes late, once.
func TestADeliveryThatMeetsNoProcessDoesNotCountIfTheServerAnswersLate(t *testing.T) {
	t.Parallel()
	s, miss := withLeaves(t)
	began := time.Now()
	conn, _ := dial(t, s)
	q := openOn(t, conn, "q")
	jets.LateOnce(q, time.Since(began))
	r, err := q.Receive()
	noError(t, err)
	miss(t, q, false, func() { noError(t, q.Put(t.Context(), &backend.Message{Data: []byte("a")})) })
	var d backend.Delivery
	noError(t, r.Pull(t.Context(), 1, 10*time.Second, func(got backend.Delivery) bool { d = got; return true }))
	record, err := d.Record(t.Context())
	noError(t, err)
	is(t, "deliveries", d.Count(), 2)
	is(t, "those that do not count", record.Returned, 1)
	noError(t, r.Close(t.Context()))
}
