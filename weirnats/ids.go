package weirnats

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/journal"
)

// ids are the deduplication IDs of messages that are done, which a server forgets when it starts again.
// [backend.Queue] keeps them. An embedded server dies with its process, so there a file serves as well, and
// costs a system call.
type ids interface {
	Known(ctx context.Context, id string) (bool, error)
	Remember(ctx context.Context, id string, put time.Time) error
}

// inFile implements ids.
type inFile struct{ *journal.IDs }

func (f inFile) Known(_ context.Context, id string) (bool, error) { return f.IDs.Known(id), nil }

func (f inFile) Remember(_ context.Context, id string, put time.Time) error {
	return f.IDs.Remember(id, put)
}

// inBoth implements ids for an embedded server that listens: other processes use the queue too, and do not see
// the file.
type inBoth struct{ file, server ids }

func (b inBoth) Known(ctx context.Context, id string) (bool, error) {
	if known, err := b.file.Known(ctx, id); known || err != nil {
		return known, err
	}
	return b.server.Known(ctx, id)
}

func (b inBoth) Remember(ctx context.Context, id string, put time.Time) error {
	return errors.Join(b.file.Remember(ctx, id, put), b.server.Remember(ctx, id, put))
}

// openIDs opens what keeps the IDs, if that is not the server alone.
func (q *queue) openIDs(s natsServer) error {
	if s.ids == nil {
		return nil
	}
	file, err := s.ids(q.name, q.backend.Window())
	switch {
	case err != nil:
		return err
	case s.addr != nil:
		q.ids = inBoth{file, q.ids}
	default:
		q.ids = file
	}
	return nil
}

// known reports whether the message was put before, and is done. The server itself knows the IDs of messages
// that are not done.
func (q *queue) known(ctx context.Context, m *backend.Message) (bool, error) {
	if m.DedupID == "" {
		return false, nil
	}
	known, err := q.ids.Known(ctx, m.DedupID)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		return false, cmp.Or(q.checkHealth(), outward(q.name, err))
	}
	return known, nil
}

// mostAsked is how many requests for IDs are under way at once.
const mostAsked = 64

// unknown returns the messages that are not known, and for each index of all whether its message is one of
// these.
func (q *queue) unknown(ctx context.Context, all []*backend.Message) (some []*backend.Message, is []bool, err error) {
	known, err := par.Map(ctx, all, q.known, par.Limit(mostAsked))
	if err != nil {
		return nil, nil, err
	}
	is = make([]bool, len(all))
	for i, m := range all {
		if is[i] = !known[i]; is[i] {
			some = append(some, m)
		}
	}
	return some, is, nil
}

// remember notes that a message is done, or will be at once. If it fails, the message may be put once more.
func (s *server) remember(t *task) {
	m := t.delivery.Message()
	if m.DedupID == "" {
		return
	}
	put := m.Put
	if strings.HasPrefix(m.DedupID, backend.MovedID) {
		put = time.Now() // the move was earlier, but much later than the call of Put
	}
	ctx, cancel := s.within(s.queue.options.lease)
	defer cancel()
	if err := s.queue.ids.Remember(ctx, m.DedupID, put); err != nil {
		s.complain("keep the ID of a message that is done", err)
	}
}
