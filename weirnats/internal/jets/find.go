package jets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Names returns the names of the queues of the server, in order, as the names of their streams tell. It does
// not check whether the queues can be opened.
func Names(ctx context.Context, conn *Conn) ([]string, error) {
	js, err := jetstream.New(conn.nats)
	if err != nil {
		return nil, err
	}
	var names []string
	list := js.StreamNames(ctx, jetstream.WithStreamListSubject("weir.q.>"))
	for name := range list.Name() {
		if name, ok := strings.CutPrefix(name, "weir_q_"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, list.Err()
}

// Find returns the queue with that name, with the settings that it has. It makes and changes nothing. The
// error is [backend.ErrGone] if the queue does not exist. Closing the queue does not close the connection.
func Find(ctx context.Context, conn *Conn, name string) (backend.Queue, error) {
	js, err := jetstream.New(conn.nats)
	if err != nil {
		return nil, err
	}
	q := &queue{conn: conn, js: js, name: name, settings: backend.Settings{Name: name}, making: make(chan struct{}, 1)}
	messages, dead, records, later := q.streams() // only their names are used
	for _, s := range []struct {
		to   *jetstream.Stream
		name string
	}{{&q.messages, messages.Name}, {&q.dead, dead.Name}, {&q.records, records.Name}, {&q.later, later.Name}} {
		if *s.to, err = js.Stream(ctx, s.name); err != nil {
			return nil, q.incomplete(err, "stream "+s.name)
		}
		if f := (*s.to).CachedInfo().Config.Metadata["weir.format"]; f != format {
			return nil, fmt.Errorf("stream %s has format %q, not %q", s.name, f, format)
		}
	}
	work, err := q.messages.Consumer(ctx, consumer)
	if err != nil {
		return nil, q.incomplete(err, "consumer "+consumer)
	}
	c := q.messages.CachedInfo().Config
	q.settings.Replicas, q.settings.MaxMessages, q.settings.MaxBytes, q.settings.Window = c.Replicas, c.MaxMsgs, c.MaxBytes, c.Duplicates
	q.settings.Lease = work.CachedInfo().Config.AckWait
	if q.settings.Partitions, err = strconv.Atoi(c.Metadata[partitionsData]); err != nil || q.settings.Partitions < 1 {
		return nil, fmt.Errorf("stream %s does not say how many partitions the queue has", messages.Name)
	}
	q.settings.Codec = c.Metadata[codecData]
	if _, err := q.Partitions(ctx); err != nil {
		return nil, err
	}
	return found{q}, nil
}

// incomplete returns the error of Find after a look for a part of the queue has failed with err.
func (q *queue) incomplete(err error, part string) error {
	switch {
	case q.messages == nil && errors.Is(err, jetstream.ErrStreamNotFound):
		return backend.ErrGone
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound):
		return fmt.Errorf("%s is missing, which the program makes that opens the queue", part)
	}
	return fmt.Errorf("look for %s: %w", part, err)
}

// found is a queue that shares its connection.
type found struct{ *queue }

// Close implements [backend.Queue]; the connection stays.
func (found) Close() error { return nil }

func (q *queue) Peek(ctx context.Context, after uint64) (*backend.Kept, error) {
	m, err := q.get(ctx, q.messages, after+1, jetstream.WithGetMsgSubject("weir.q."+q.name+".*"))
	if err != nil {
		return nil, err
	}
	var r *backend.Record
	if err := q.ask(ctx, func(ctx context.Context) (err error) {
		r, _, err = q.record(ctx, nameOf(m.Sequence, m.Time))
		return err
	}); err != nil {
		return nil, err
	}
	return &backend.Kept{Number: m.Sequence, Message: *q.message(m.Header, m.Data, m.Time), Record: *r}, nil
}

// record returns the record of a message, and the record's own number; the zero Record and 0 if there is
// none.
func (q *queue) record(ctx context.Context, name string) (*backend.Record, uint64, error) {
	m, err := q.records.GetLastMsgForSubject(ctx, q.recordSubject(name))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return new(backend.Record), 0, nil
	case err != nil:
		return nil, 0, failed(err)
	}
	return decodeRecord(m.Data), m.Sequence, nil
}
