// Package mem keeps a queue in memory, for tests. It makes leases, delays and faults cheap, and works in a
// bubble of testing/synctest.
package mem

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Queue implements [backend.Queue].
type Queue struct {
	settings backend.Settings

	mu       sync.Mutex
	last     uint64
	messages map[uint64]*item
	plain    list                 // the messages without a key
	parts    []*part              // none before the first message with a key
	ids      map[string]time.Time // when the messages with these IDs were put
	done     map[string]time.Time // the IDs that Remember has noted
	later    later
	letters  map[uint64]*backend.Dead
	buried   map[uint64]bool // the messages that are among the letters
	changed  chan struct{}   // closed when a message may be ready sooner
	fault    func(call string) error
	lag      time.Duration
}

// item is a message in the queue.
type item struct {
	number uint64
	backend.Message
	count  int
	record *backend.Record
	due    time.Time // when it becomes ready, if it is not
	lease  time.Time // when its lease would have ended, if it went back to come at once, and has not come since
	ready  bool
	leased bool
	in     *list // the list to which the item belongs
}

// list has the messages to deliver now, ordered by number, except that those that come again go first.
type list struct{ ready []*item }

// New returns an empty queue.
func New(s backend.Settings) *Queue {
	return &Queue{
		settings: s,
		messages: make(map[uint64]*item),
		ids:      make(map[string]time.Time),
		done:     make(map[string]time.Time),
		later:    later{ids: make(map[string]time.Time)},
		letters:  make(map[uint64]*backend.Dead),
		buried:   make(map[uint64]bool),
		changed:  make(chan struct{}),
	}
}

// Fault makes each call ask f whether it must fail. f gets the name of the call: "put", "known", "remember",
// "record", "keep", "extend", "ack", "give back", "bury", "pull", "stats", "state" or "list". It gets "stored"
// before the answer of a put that has stored a message for later, and "moved" between the two steps in which
// Move puts a message into the queue and removes it from those that wait.
func (q *Queue) Fault(f func(call string) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fault = f
}

// Lag makes each acknowledgement take effect d after it was sent.
func (q *Queue) Lag(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lag = d
}

// fails returns the fault of a call. The mutex is held.
func (q *Queue) fails(call string) error {
	if q.fault == nil {
		return nil
	}
	return q.fault(call)
}

// notify wakes the pulls that wait. The mutex is held.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// Known implements [backend.Queue].
func (q *Queue) Known(_ context.Context, id string) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, ok := q.done[id]
	return ok && time.Since(at) < q.settings.Window, q.fails("known")
}

// Remember implements [backend.Queue].
func (q *Queue) Remember(_ context.Context, id string, put time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.fails("remember"); err != nil {
		return err
	}
	if time.Since(put) < q.settings.Window { // otherwise a later message with that ID may have been put, and done
		q.done[id] = put
	}
	return nil
}

// Restart makes the queue forget what a server forgets when it starts again.
func (q *Queue) Restart() {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := make(map[string]bool)
	for _, i := range q.messages {
		kept[i.DedupID] = true
		if !i.lease.IsZero() {
			i.in.ready = slices.DeleteFunc(i.in.ready, func(r *item) bool { return r == i })
			i.ready, i.due, i.lease = false, i.lease, time.Time{}
		}
	}
	maps.DeleteFunc(q.ids, func(id string, _ time.Time) bool { return !kept[id] })
	maps.DeleteFunc(q.later.ids, func(id string, _ time.Time) bool {
		return !slices.ContainsFunc(q.later.waiting, func(p *postponed) bool { return p.DedupID == id })
	})
	for _, p := range q.parts {
		p.term = ""
	}
	q.notify()
}

// Window implements [backend.Queue].
func (q *Queue) Window() time.Duration { return q.settings.Window }

// Limit implements [backend.Queue].
func (q *Queue) Limit(*backend.Message) int { return 1 << 20 }

// Put implements [backend.Queue].
func (q *Queue) Put(ctx context.Context, m *backend.Message) error {
	if !m.Due.IsZero() {
		return q.putLater(ctx, m)
	}
	if err := q.PutAll(ctx, []*backend.Message{m}); !errors.Is(err, backend.ErrDuplicate) {
		return err
	}
	return nil
}

// PutEach implements [backend.Queue].
func (q *Queue) PutEach(ctx context.Context, all []*backend.Message) []error {
	errs := make([]error, len(all))
	for i, m := range all {
		errs[i] = q.Put(ctx, m)
	}
	return errs
}

// PutAll implements [backend.Queue].
func (q *Queue) PutAll(ctx context.Context, all []*backend.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.fails("put"); err != nil {
		return err
	}
	now, among := time.Now(), map[string]bool{}
	for _, m := range all {
		if among[m.DedupID] && m.DedupID != "" || q.known(q.ids, m.DedupID, now) {
			return backend.ErrDuplicate
		}
		among[m.DedupID] = true
	}
	if int64(len(q.messages)+len(all)) > q.settings.MaxMessages {
		return backend.ErrFull
	}
	for _, m := range all {
		q.add(m, now)
	}
	q.notify()
	return nil
}

// known reports whether a message with that DedupID was put within the window. The mutex is held.
func (q *Queue) known(ids map[string]time.Time, id string, now time.Time) bool {
	at, ok := ids[id]
	return id != "" && ok && now.Sub(at) < q.settings.Window
}

// add adds a message. The mutex is held.
func (q *Queue) add(m *backend.Message, now time.Time) {
	if m.DedupID != "" {
		q.ids[m.DedupID] = now
	}
	q.last++
	i := &item{number: q.last, Message: *m, ready: true}
	i.Data, i.in = slices.Clone(m.Data), &q.plain
	if i.Put.IsZero() {
		i.Put = now
	}
	if m.Key != "" {
		i.in = &q.partOf(m.Key).list
	}
	q.messages[i.number] = i
	i.in.ready = append(i.in.ready, i)
}

// promote makes due messages ready, and returns when the next one is due. The mutex is held.
func (q *Queue) promote(now time.Time) (next time.Time) {
	var due []*item
	for _, i := range q.messages {
		switch {
		case i.ready:
		case !i.due.After(now):
			due = append(due, i)
		case next.IsZero() || i.due.Before(next):
			next = i.due
		}
	}
	slices.SortFunc(due, func(a, b *item) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.number, b.number)) })
	slices.Reverse(due)
	for _, i := range due {
		i.ready, i.leased = true, false
		i.in.ready = slices.Insert(i.in.ready, 0, i)
	}
	return next
}

// Receive implements [backend.Queue].
func (q *Queue) Receive() (backend.Receiver, error) {
	r := &receiver{q: q}
	r.open, r.end = context.WithCancel(context.Background())
	return r, nil
}

type receiver struct {
	q    *Queue
	open context.Context // done when the receiver is closed
	end  context.CancelFunc
}

func (r *receiver) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery) bool) error {
	q := r.q
	sent := time.Now()
	end := sent.Add(wait)
	for n > 0 {
		q.mu.Lock()
		now := time.Now()
		if err := q.fails("pull"); err != nil {
			q.mu.Unlock()
			return err
		}
		next := q.promote(now)
		taken := false
		for ; n > 0 && len(q.plain.ready) > 0 && ctx.Err() == nil && r.open.Err() == nil; n-- {
			taken = true
			q.deliver(&q.plain, sent, now, take)
		}
		changed := q.changed
		q.mu.Unlock()
		left := end.Sub(now)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.open.Err() != nil:
			return context.Cause(r.open)
		case taken || left <= 0:
			return nil
		}
		if !next.IsZero() {
			left = min(left, next.Sub(now))
		}
		r.await(ctx, changed, left)
	}
	return nil
}

// await waits until what may be ready has changed, but at most for left.
func (r *receiver) await(ctx context.Context, changed <-chan struct{}, left time.Duration) {
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	case <-r.open.Done():
	}
}

// deliver delivers the first message of a list, for a pull that began at sent: as with a server, its lease may count from then. The mutex is
// held, except while take runs.
func (q *Queue) deliver(from *list, sent, now time.Time, take func(backend.Delivery) bool) {
	i := from.ready[0]
	from.ready = from.ready[1:]
	i.count++
	i.ready, i.leased, i.due, i.lease = false, true, now.Add(q.settings.Lease), time.Time{}
	d := &delivery{q: q, item: i, content: i.Message, count: i.count, more: len(from.ready) > 0, sent: sent}
	q.mu.Unlock()
	taken := take(d)
	q.mu.Lock()
	if !taken {
		i.count--
		i.ready, i.leased = true, false
		from.ready = slices.Insert(from.ready, 0, i)
		q.notify()
	}
}

func (r *receiver) Close(context.Context) error {
	r.end()
	return nil
}

// delivery implements [backend.Delivery].
type delivery struct {
	q       *Queue
	item    *item
	content backend.Message
	count   int
	more    bool
	sent    time.Time
}

func (d *delivery) Message() *backend.Message { return &d.content }
func (d *delivery) Number() uint64            { return d.item.number }
func (d *delivery) Sequence() uint64          { return d.item.number }
func (d *delivery) Count() int                { return d.count }
func (d *delivery) More() bool                { return d.more }
func (d *delivery) Sent() time.Time           { return d.sent }

// call calls do with the message, if it is there.
func (d *delivery) call(ctx context.Context, name string, do func()) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	if err := d.q.fails(name); err != nil {
		return err
	}
	if d.q.messages[d.item.number] != nil {
		do()
	}
	return nil
}

func (d *delivery) Record(ctx context.Context) (*backend.Record, error) {
	r := new(backend.Record)
	err := d.call(ctx, "record", func() {
		if d.item.record != nil {
			*r = *d.item.record
			r.Errors = slices.Clone(r.Errors)
		}
	})
	return r, err
}

func (d *delivery) Extend(ctx context.Context) error {
	return d.call(ctx, "extend", func() {
		if !d.item.ready {
			d.item.due = time.Now().Add(d.q.settings.Lease)
		}
	})
}

func (d *delivery) Ack(ctx context.Context, confirm bool) error {
	d.q.mu.Lock()
	lag := d.q.lag
	d.q.mu.Unlock()
	if lag > 0 {
		if !confirm {
			time.AfterFunc(lag, func() { _ = d.call(context.Background(), "ack", d.remove) })
			return nil
		}
		time.Sleep(lag)
	}
	return d.call(ctx, "ack", d.remove)
}

func (d *delivery) remove() {
	delete(d.q.messages, d.item.number)
	d.item.in.ready = slices.DeleteFunc(d.item.in.ready, func(i *item) bool { return i == d.item })
	d.q.notify() // a partition may have room now
}

func (d *delivery) Keep(ctx context.Context, r *backend.Record) error {
	return d.call(ctx, "keep", func() { d.keep(r) })
}

func (d *delivery) keep(r *backend.Record) {
	kept := *r
	kept.Errors = slices.Clone(r.Errors)
	d.item.record = &kept
}

func (d *delivery) GiveBack(ctx context.Context, r *backend.Record, wait time.Duration) error {
	return d.call(ctx, "give back", func() {
		if r != nil {
			d.keep(r)
		}
		if !d.item.ready {
			if wait == 0 {
				d.item.lease = d.item.due
			}
			d.item.due, d.item.leased = time.Now().Add(wait), false
			d.q.notify()
		}
	})
}

func (d *delivery) Bury(ctx context.Context, r *backend.Record, tries int) error {
	return d.call(ctx, "bury", func() {
		if !d.q.buried[d.item.number] {
			d.q.buried[d.item.number] = true
			number := uint64(len(d.q.buried))
			d.q.letters[number] = &backend.Dead{Number: number, Message: d.content, Record: *r, Tries: tries, Died: time.Now()}
		}
		d.remove()
	})
}

// Next implements [backend.Queue].
func (q *Queue) Next(_ context.Context, after uint64) (*backend.Dead, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(q.letters)) {
		if n > after {
			return new(*q.letters[n]), nil
		}
	}
	return nil, backend.ErrNotFound
}

// Letter implements [backend.Queue].
func (q *Queue) Letter(_ context.Context, number uint64) (*backend.Dead, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.letters[number]; l != nil {
		return new(*l), nil
	}
	return nil, backend.ErrNotFound
}

// Forget implements [backend.Queue].
func (q *Queue) Forget(_ context.Context, number uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.letters[number] == nil {
		return backend.ErrNotFound
	}
	delete(q.letters, number)
	return nil
}

// Purge implements [backend.Queue].
func (q *Queue) Purge(context.Context) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.letters)
	clear(q.letters)
	return n, nil
}

// Stats implements [backend.Queue].
func (q *Queue) Stats(context.Context) (backend.Stats, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.fails("stats"); err != nil {
		return backend.Stats{}, err
	}
	s := backend.Stats{Messages: len(q.messages), Dead: len(q.letters), Later: len(q.later.waiting), Accepted: q.last}
	for _, i := range q.messages {
		if i.count > 0 {
			s.Leased++
		}
		if i.count > 1 {
			s.Redelivered++
		}
		if s.Oldest.IsZero() || i.Put.Before(s.Oldest) {
			s.Oldest, s.Age = i.Put, time.Since(i.Put)
		}
	}
	return s, nil
}

// Held returns how many messages have a valid lease.
func (q *Queue) Held() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.promote(time.Now())
	for _, i := range q.messages {
		if i.leased {
			n++
		}
	}
	return n
}

// Close implements [backend.Queue].
func (q *Queue) Close() error { return nil }
