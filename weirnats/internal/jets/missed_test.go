package jets_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

// A server that has leaf nodes sends messages for 2 s also to a pull whose subscription is gone: what may happen with any server, if the subscription ends at the same moment, happens
// each time.
func TestADeliveryThatMeetsNoProcessDoesNotCount(t *testing.T) {
	t.Parallel()
	s, end := serve(t, server.Options{StoreDir: t.TempDir(), LeafNode: server.LeafNodeOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT}})
	t.Cleanup(end)
	client, err := nats.Connect(s.ClientURL())
	noError(t, err)
	t.Cleanup(client.Close)
	conform.Missed(t, plain, func(t *testing.T, s2 backend.Settings) backend.Queue {
		conn, _ := dial(t, s)
		q, err := jets.Open(t.Context(), conn, s2)
		noError(t, err)
		return q
	}, func(t *testing.T, q backend.Queue, keyed bool, put func()) {
		subject, ask := jets.Ask(q, keyed)
		noError(t, client.PublishRequest(subject, "nobody", []byte(ask)))
		noError(t, client.Flush())
		put()
	})
}
