package weirnats_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// The first delivery of a message that may be tried once meets no process, as one may that the server sends just as Serve ends. A server that has leaf nodes sends messages for 2 s to
// whatever has asked for them. The function is called.
func TestAMessageWhoseDeliveryMeetsNoProcessIsCalled(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, LeafNode: server.LeafNodeOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT},
		JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	noError(t, err)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(limit) {
		t.Fatal("the server does not start")
	}
	q, err := weirnats.Open[string](t.Context(), "q", weirnats.Server(s.ClientURL()), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1})), quiet)
	noError(t, err)
	defer func() { noError(t, q.Close()) }()
	client, err := nats.Connect(s.ClientURL())
	noError(t, err)
	defer client.Close()
	noError(t, client.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.weir_q_q.work", "nobody", nil))
	noError(t, client.Flush())
	noError(t, q.Put(t.Context(), "x"))
	var try atomic.Int64
	stop := serve(t, q, newPool(t, 1), func(ctx context.Context, _ string) error {
		try.Add(int64(weirnats.Attempt(ctx).Number))
		return nil
	})
	drained(t, q)
	stop()
	equal(t, "the only try", try.Load(), 1)
}
