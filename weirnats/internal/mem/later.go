package mem

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// later has the messages that wait for their time.
type later struct {
	last    uint64
	waiting []*postponed
	ids     map[string]time.Time
}

// postponed is a message that waits for its time.
type postponed struct {
	number uint64
	backend.Message
}

// fullTime is how long Move waits while there is no room.
const fullTime = 10 * time.Millisecond

// putLater is Put of a message that is not due.
func (q *Queue) putLater(ctx context.Context, m *backend.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.fails("put"); err != nil {
		return err
	}
	l, now := &q.later, time.Now()
	if q.known(l.ids, m.DedupID, now) {
		return backend.ErrDuplicate
	}
	if m.DedupID != "" {
		l.ids[m.DedupID] = now
	}
	l.last++
	p := &postponed{l.last, *m}
	p.Data = slices.Clone(m.Data)
	if p.Put.IsZero() {
		p.Put = now
	}
	l.waiting = append(l.waiting, p)
	q.notify()
	return q.fails("stored")
}

// Later implements [backend.Queue].
func (q *Queue) Later(_ context.Context, after uint64) (*backend.Kept, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first *postponed
	for _, p := range q.later.waiting {
		if p.number > after && (first == nil || p.number < first.number) {
			first = p
		}
	}
	if first == nil {
		return nil, backend.ErrNotFound
	}
	return &backend.Kept{Number: first.number, Message: first.Message}, nil
}

// Move implements [backend.Queue].
func (q *Queue) Move(ctx context.Context, known func(ctx context.Context, m *backend.Message) (bool, error)) error {
	for ctx.Err() == nil {
		q.mu.Lock()
		now := time.Now()
		next, err := q.move(ctx, now, known)
		changed := q.changed
		q.mu.Unlock()
		if err != nil {
			return err
		}
		wait(ctx, changed, next.Sub(now), !next.IsZero())
	}
	return nil
}

// wait returns when something has changed, ctx is done, or, if limited is true, limit has passed.
func wait(ctx context.Context, changed <-chan struct{}, limit time.Duration, limited bool) {
	var over <-chan time.Time
	if limited {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-changed:
	case <-over:
	case <-ctx.Done():
	}
}

// move puts due messages into the queue, as far as there is room. It returns when to check again; the zero
// time means when something changes. The mutex is held, except during the calls of known.
func (q *Queue) move(ctx context.Context, now time.Time, known func(ctx context.Context, m *backend.Message) (bool, error)) (next time.Time, err error) {
	l := &q.later
	slices.SortFunc(l.waiting, func(a, b *postponed) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.number, b.number)) })
	for len(l.waiting) > 0 {
		p := l.waiting[0]
		switch {
		case p.Due.After(now):
			return p.Due, nil
		case int64(len(q.messages)) >= q.settings.MaxMessages:
			return now.Add(fullTime), nil
		}
		m := p.Message
		m.DedupID, m.Due = backend.MovedID+strconv.FormatUint(p.number, 10), time.Time{}
		q.mu.Unlock()
		was, err := known(ctx, &m)
		q.mu.Lock()
		switch {
		case err != nil:
			return next, err
		case len(l.waiting) == 0 || l.waiting[0] != p: // p was moved meanwhile, or another message must come before it
			continue
		case int64(len(q.messages)) >= q.settings.MaxMessages:
			return now.Add(fullTime), nil
		}
		if !was && !q.known(q.ids, m.DedupID, now) {
			q.add(&m, now)
			q.notify()
		}
		if err := q.fails("moved"); err != nil {
			return next, err
		}
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	return next, nil
}
