package main

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// natsQueues is a program that uses JetStream without a library on top: an embedded server, a stream that is
// a work queue, and a consumer that fetches as many messages as there are goroutines. It does not handle
// failed tasks, leases that end too early, or a stop in the middle of tasks.
var natsQueues = contender{name: "nats.go", module: "github.com/nats-io/nats.go", forms: []string{"PublishAsync", "atomic"}, open: openNats}

const natsName = "tasks"

type natsQueue struct {
	server   *server.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	stream   jetstream.Stream
	consumer jetstream.Consumer
}

func openNats(ctx context.Context, at place) (queue, error) {
	s, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: filepath.Join(at.Dir, "jetstream"), SyncAlways: at.Always, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		return nil, errors.New("the server does not start")
	}
	q := &natsQueue{server: s}
	if q.conn, err = nats.Connect("", nats.InProcessServer(s)); err != nil {
		return nil, err
	}
	if q.js, err = jetstream.New(q.conn); err != nil {
		return nil, err
	}
	q.stream, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: natsName, Subjects: []string{natsName}, Retention: jetstream.WorkQueuePolicy, AllowAtomicPublish: true,
	})
	if err != nil {
		return nil, err
	}
	q.consumer, err = q.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: natsName, AckPolicy: jetstream.AckExplicitPolicy,
		MaxAckPending: -1, // no bound: the places bound it, as in weirnats
	})
	return q, err
}

func (q *natsQueue) put(ctx context.Context, payload []byte) error {
	_, err := q.js.Publish(ctx, natsName, payload)
	return err
}

func (q *natsQueue) putMany(ctx context.Context, form string, payloads [][]byte) error {
	if form == "atomic" {
		return q.putAtomic(ctx, payloads)
	}
	answers := make([]jetstream.PubAckFuture, len(payloads))
	for i, payload := range payloads {
		var err error
		if answers[i], err = q.js.PublishAsync(natsName, payload); err != nil {
			return err
		}
	}
	for _, a := range answers {
		select {
		case <-a.Ok():
		case err := <-a.Err():
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// putAtomic publishes a batch that the server accepts as a whole or not at all. nats.go has no call for it,
// so putAtomic sets the headers of the protocol itself.
func (q *natsQueue) putAtomic(ctx context.Context, payloads [][]byte) error {
	id := nuid.Next()
	for i, payload := range payloads {
		m := &nats.Msg{Subject: natsName, Data: payload, Header: nats.Header{"Nats-Batch-Id": {id}, "Nats-Batch-Sequence": {strconv.Itoa(i + 1)}}}
		if i < len(payloads)-1 {
			if err := q.conn.PublishMsg(m); err != nil {
				return err
			}
			continue
		}
		m.Header["Nats-Batch-Commit"] = []string{"1"}
		if _, err := q.js.PublishMsg(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (q *natsQueue) serve(ctx context.Context, run func([]byte)) (func() error, error) {
	ctx, cancel := context.WithCancel(ctx)
	tasks := make(chan jetstream.Msg)
	var workers sync.WaitGroup
	for range places {
		workers.Go(func() {
			for m := range tasks {
				run(m.Data())
				_ = m.Ack() // a message that is not acknowledged is left, and the check finds it
			}
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- q.fetch(ctx, tasks) }()
	return func() error {
		cancel()
		err := <-ended
		close(tasks)
		workers.Wait()
		return errors.Join(unlessCancelled(err), q.conn.Flush())
	}, nil
}

// fetch sends messages to tasks until ctx is done.
func (q *natsQueue) fetch(ctx context.Context, tasks chan<- jetstream.Msg) error {
	for ctx.Err() == nil {
		batch, err := q.consumer.Fetch(places, jetstream.FetchContext(ctx))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			tasks <- m
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
	}
	return nil
}

func (q *natsQueue) left(ctx context.Context) (int, error) {
	info, err := q.stream.Info(ctx)
	if err != nil {
		return 0, err
	}
	return int(info.State.Msgs), nil
}

func (q *natsQueue) close() error {
	q.conn.Close()
	q.server.Shutdown()
	q.server.WaitForShutdown()
	return nil
}
