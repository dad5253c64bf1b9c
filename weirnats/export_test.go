package weirnats

import (
	"context"

	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/journal"
)

// Counts are those that the exporters get of a queue.
func Counts[T any](ctx context.Context, q *Queue[T]) (exporter.QueueCounts, error) {
	return q.untyped().counts(ctx)
}

// Where is the server of a queue as the exporters name it.
func Where(opts ...Option) string { return newOptions(opts).where() }

// Break makes the server of q one that cannot write.
func (q *Queue[T]) Break(err error) { q.untyped().health = func() error { return err } }

// Note makes q note in j which messages run, as with an embedded server.
func (q *Queue[T]) Note(j *journal.Journal) { q.untyped().journal = j }

// OpenOn returns a queue that keeps its messages in b, which new makes for the settings.
func OpenOn[T any](name string, open func(backend.Settings) backend.Queue, opts ...Option) *Queue[T] {
	o := newOptions(opts)
	return &Queue[T]{newQueue(name, new(T), o, open(o.settings(name)), natsServer{health: nothing, release: nothing})}
}
