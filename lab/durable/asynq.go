package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
)

// asynqQueues is asynq with its defaults, and with a connection for each goroutine that puts. asynq has no
// call that puts several tasks. Redis keeps its log of writes, and syncs it once a second or for each write.
var asynqQueues = contender{name: "asynq", module: "github.com/hibiken/asynq", server: redis, open: openAsynq}

const asynqKind = "task"

type asynqQueue struct {
	redis     asynq.RedisClientOpt
	client    *asynq.Client
	inspector *asynq.Inspector
}

func openAsynq(_ context.Context, at place) (queue, error) {
	to := redisAddress(at.Server)
	return &asynqQueue{to, asynq.NewClient(to), asynq.NewInspector(to)}, nil
}

func (q *asynqQueue) put(ctx context.Context, payload []byte) error {
	_, err := q.client.EnqueueContext(ctx, asynq.NewTask(asynqKind, payload))
	return err
}

func (q *asynqQueue) putMany(context.Context, string, [][]byte) error {
	return fmt.Errorf("asynq: several tasks at once: %w", errors.ErrUnsupported)
}

func (q *asynqQueue) serve(_ context.Context, run func([]byte)) (func() error, error) {
	server := asynq.NewServer(q.redis, asynq.Config{Concurrency: places, LogLevel: asynq.ErrorLevel})
	mux := asynq.NewServeMux()
	mux.HandleFunc(asynqKind, func(_ context.Context, task *asynq.Task) error { run(task.Payload()); return nil })
	return func() error { server.Shutdown(); return nil }, server.Start(mux)
}

func (q *asynqQueue) left(context.Context) (int, error) {
	info, err := q.inspector.GetQueueInfo("default")
	if err != nil {
		return 0, err
	}
	return info.Size, nil
}

func (q *asynqQueue) close() error { return errors.Join(q.inspector.Close(), q.client.Close()) }
