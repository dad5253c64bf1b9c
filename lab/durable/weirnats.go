package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// weirQueues is weirnats with its embedded server and its defaults, except that the queue is practically unbounded.
var weirQueues = contender{name: "weirnats", forms: []string{"PutAll"}, open: openWeir}

type weirQueue struct{ *weirnats.Queue[[]byte] }

func openWeir(ctx context.Context, at place) (queue, error) {
	durability := weirnats.Lazy
	if at.Always {
		durability = weirnats.Always
	}
	q, err := weirnats.Open[[]byte](ctx, "tasks", weirnats.Dir(filepath.Join(at.Dir, "queues")), durability,
		weirnats.MaxMessages(100_000_000), weirnats.Logger(slog.New(slog.DiscardHandler)))
	return weirQueue{q}, err
}

func (q weirQueue) put(ctx context.Context, payload []byte) error { return q.Put(ctx, payload) }

func (q weirQueue) putMany(ctx context.Context, _ string, payloads [][]byte) error {
	_, err := q.PutAll(ctx, payloads, nil)
	return err
}

func (q weirQueue) serve(ctx context.Context, run func([]byte)) (func() error, error) {
	ctx, cancel := context.WithCancel(ctx)
	pool := weir.New(places)
	ended := make(chan error, 1)
	go func() {
		ended <- q.Serve(ctx, pool, func(_ context.Context, payload []byte) error { run(payload); return nil })
	}()
	return func() error {
		cancel()
		err := <-ended
		pool.Close()
		return unlessCancelled(err)
	}, nil
}

func (q weirQueue) left(ctx context.Context) (int, error) {
	stats, err := q.Stats(ctx)
	return stats.Messages, err
}

func (q weirQueue) close() error { return q.Close() }
