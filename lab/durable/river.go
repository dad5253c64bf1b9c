package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverQueues is River with a connection for each goroutine that puts, and with the two settings of River's own
// benchmark. With River's defaults, 64 places run only 640 tasks a second. The payload is JSON, in which 128 bytes
// become 172. PostgreSQL has the settings that initdb writes; where it need not sync, synchronous_commit is off.
var riverQueues = contender{name: "River", module: "github.com/riverqueue/river", server: postgres, forms: []string{"InsertMany", "InsertManyFast"}, open: openRiver}

type riverArgs struct {
	Payload []byte `json:"payload"`
}

func (riverArgs) Kind() string { return "task" }

type riverQueue struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	run    func(payload []byte) // set before the client starts
}

func openRiver(ctx context.Context, at place) (queue, error) {
	q := &riverQueue{}
	var err error
	if q.pool, err = pgxpool.New(ctx, fmt.Sprintf("%s pool_max_conns=%d", postgresAddress(at.Server), places)); err != nil {
		return nil, err
	}
	driver := riverpgxv5.New(q.pool)
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[riverArgs]) error {
		q.run(job.Args.Payload)
		return nil
	}))
	q.client, err = river.NewClient(driver, &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: places}},
		Workers: workers, Logger: logger,
	})
	return q, err
}

func (q *riverQueue) put(ctx context.Context, payload []byte) error {
	_, err := q.client.Insert(ctx, riverArgs{payload}, nil)
	return err
}

func (q *riverQueue) putMany(ctx context.Context, form string, payloads [][]byte) error {
	params := make([]river.InsertManyParams, len(payloads))
	for i, payload := range payloads {
		params[i].Args = riverArgs{payload}
	}
	if form == "InsertMany" {
		_, err := q.client.InsertMany(ctx, params)
		return err
	}
	_, err := q.client.InsertManyFast(ctx, params)
	return err
}

func (q *riverQueue) serve(ctx context.Context, run func([]byte)) (func() error, error) {
	q.run = run
	return func() error { return q.client.Stop(ctx) }, q.client.Start(ctx)
}

func (q *riverQueue) left(ctx context.Context) (n int, err error) {
	err = q.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE finalized_at IS NULL").Scan(&n)
	return n, err
}

func (q *riverQueue) close() error {
	q.pool.Close()
	return nil
}
