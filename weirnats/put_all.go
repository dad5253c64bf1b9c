package weirnats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// mostBytesAtOnce is how many bytes of values go to the server at once.
const mostBytesAtOnce = 4 << 20

// PutAll puts all values into the queue, in order, much faster than as many calls of [Queue.Put]. It returns how many of them are in the queue for good: the first n, all if
// the error is nil. id, if it is not nil, returns the [ID] of the value with that index, of 1 to 256 bytes; those whose ID was put before are left out, and count as put. key,
// if it is there, returns the [Key], of up to 256 bytes, "" for none. If the queue is full PutAll waits for room until ctx is done; of the values that come to the server
// together, at most 500, some may then go ahead of others, unless one of them has a key. All values are encoded before the first is put. The errors are those of Put; after one,
// values beyond the first n may be in the queue as well.
func (q *Queue[T]) PutAll(ctx context.Context, values []T, id func(index int) string, key ...func(index int) string) (n int, err error) {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	all := make([]*backend.Message, len(values))
	for i, v := range values {
		var opts []PutOption
		if id != nil {
			opts = []PutOption{ID(id(i))}
		}
		for _, of := range key {
			must(of != nil, "function must not be nil", "nil")
			if k := of(i); k != "" {
				opts = append(opts, Key(k))
			}
		}
		if all[i], err = q.message(ctx, v, opts); err != nil {
			return 0, err
		}
	}
	if slices.ContainsFunc(all, hasKey) {
		defer q.noteKeyed()
		if err := cmp.Or(q.checkHealth(), q.afterPuts(ctx)); err != nil {
			return 0, err
		}
	}
	for len(all) > 0 {
		if err := q.checkHealth(); err != nil {
			return n, err
		}
		some := all[:atOnce(all, itself)]
		stored, err := q.putPortion(ctx, some)
		n += stored
		if err != nil {
			return n, cmp.Or(q.checkHealth(), err)
		}
		all = all[len(some):]
	}
	return n, nil
}

// putPortion puts messages, and returns how many of the first ones are put, or were.
func (q *Queue[T]) putPortion(ctx context.Context, all []*backend.Message) (n int, err error) {
	some, is, err := q.unknown(ctx, all)
	if err != nil {
		return 0, err
	}
	errs := q.storeAll(ctx, some)
	for i := range all {
		if !is[i] {
			n++
			continue
		}
		err := errs[0]
		if errors.Is(err, backend.ErrFull) {
			err = q.store(ctx, some[0], true)
		}
		some, errs = some[1:], errs[1:]
		switch {
		case err == nil:
			n++
		case ctx.Err() != nil:
			return n, context.Cause(ctx)
		default:
			return n, outward(q.name, err)
		}
	}
	return n, nil
}

// atOnce returns how many of the first elements go to the server at once, each with its message or none.
func atOnce[E any](all []E, message func(E) *backend.Message) int {
	n, size := 0, 0
	for i, e := range all {
		m := message(e)
		if m == nil {
			continue
		}
		if size += len(m.Data); n == backend.MostAtOnce || n > 0 && size > mostBytesAtOnce {
			return i
		}
		n++
	}
	return len(all)
}

func itself(m *backend.Message) *backend.Message { return m }

func hasKey(m *backend.Message) bool { return m.Key != "" }

// afterPuts waits until the messages of earlier Puts are stored, also of one whose context has ended: others of their keys come behind them.
func (q *Queue[T]) afterPuts(ctx context.Context) error {
	if q.group == nil {
		return nil
	}
	return q.group.passed(ctx)
}

// storeAll stores messages, and returns the error of each.
func (q *Queue[T]) storeAll(ctx context.Context, all []*backend.Message) []error {
	if slices.ContainsFunc(all, hasKey) {
		return q.storeInOrder(ctx, all)
	}
	if q.group != nil {
		return storeAtOnce(ctx, q.backend, all)
	}
	return q.backend.PutEach(ctx, all)
}

// storeInOrder stores messages so that none is in the queue before those before it: else one that finds no room could be put behind a later one of its key. It waits for room.
func (q *Queue[T]) storeInOrder(ctx context.Context, all []*backend.Message) []error {
	if len(all) == 1 {
		return []error{q.store(ctx, all[0], true)}
	}
	err := putAll(ctx, q.backend, all)
	if !splits(err) {
		return slices.Repeat([]error{err}, len(all))
	}
	half := len(all) / 2
	errs := q.storeInOrder(ctx, all[:half])
	if err := errs[half-1]; err != nil {
		return append(errs, slices.Repeat([]error{err}, len(all)-half)...)
	}
	return append(errs, q.storeInOrder(ctx, all[half:])...)
}

// fewestAtOnce is from how many messages on it takes less time to store them at once than one by one, where each is synced.
const fewestAtOnce = 32

// storeAtOnce stores messages with few syncs of the disk.
func storeAtOnce(ctx context.Context, to backend.Queue, all []*backend.Message) []error {
	if len(all) < fewestAtOnce {
		return to.PutEach(ctx, all)
	}
	err := putAll(ctx, to, all)
	if splits(err) {
		half := len(all) / 2
		return append(storeAtOnce(ctx, to, all[:half]), storeAtOnce(ctx, to, all[half:])...)
	}
	errs := make([]error, len(all))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// splits reports whether a part of what was refused at once may be taken.
func splits(err error) bool {
	return errors.Is(err, backend.ErrDuplicate) || errors.Is(err, backend.ErrFull)
}

// putAll is PutAll of a backend that waits where too many do that at once.
func putAll(ctx context.Context, to backend.Queue, all []*backend.Message) error {
	for {
		err := to.PutAll(ctx, all)
		if !errors.Is(err, backend.ErrBusy) {
			return err
		}
		timer := time.NewTimer(10 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return causeOf(ctx)
		}
	}
}

// groupTime is how long a group of messages may take to be stored.
const groupTime = 30 * time.Second

// group lets Puts that come at once share a sync of the disk: while some are under way, the others gather.
type group struct {
	to    backend.Queue
	known func(ctx context.Context, m *backend.Message) (bool, error) // that it was put, and is done

	mu      sync.Mutex
	waiting []*member
	busy    bool // a goroutine stores those that wait
	stores  sync.WaitGroup
}

type member struct {
	message *backend.Message // nil for none; it does not change when it is taken
	done    chan error       // of capacity 1
	taken   bool             // the message is on its way; under the mutex of the group
}

// put stores a message, or returns [backend.ErrFull]. When its context ends a message that is not on its way is not stored any more; one that is may be stored after put has
// returned, so put keeps nothing of its caller's.
func (g *group) put(ctx context.Context, m *backend.Message) error {
	own := *m
	own.Data, own.Carry = bytes.Clone(m.Data), maps.Clone(m.Carry)
	return g.join(ctx, &member{message: &own, done: make(chan error, 1)})
}

// passed waits until the messages are stored whose Puts have begun, some of which may have returned.
func (g *group) passed(ctx context.Context) error {
	return g.join(ctx, &member{done: make(chan error, 1)})
}

func (g *group) join(ctx context.Context, w *member) error {
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	if !g.busy {
		g.busy = true
		g.stores.Go(g.store)
	}
	g.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if !w.taken {
			w.message = nil
		}
		return causeOf(ctx)
	}
}

// causeOf is the cause of a context that is done, also of one that does not say so yet.
func causeOf(ctx context.Context) error { return cmp.Or(context.Cause(ctx), context.Canceled) }

// store stores what waits, until nothing does.
func (g *group) store() {
	for last := 0; ; {
		g.gather(last)
		g.mu.Lock()
		if len(g.waiting) == 0 {
			g.busy = false
			g.mu.Unlock()
			return
		}
		members, all := g.take()
		g.mu.Unlock()
		last = len(all)
		var errs []error
		if last > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), groupTime)
			errs = g.storeUnknown(ctx, all)
			cancel()
		}
		for _, w := range members {
			if w.message == nil {
				w.done <- nil
				continue
			}
			w.done <- errs[0]
			errs = errs[1:]
		}
	}
}

// storeUnknown is storeAtOnce for messages that are not done by now. They have waited: the server may have started anew meanwhile, which has forgotten their IDs.
func (g *group) storeUnknown(ctx context.Context, all []*backend.Message) []error {
	errs := make([]error, len(all))
	var some []*backend.Message
	var at []int
	for i, m := range all {
		known, err := g.known(ctx, m)
		if errs[i] = err; err == nil && !known {
			some, at = append(some, m), append(at, i)
		}
	}
	if len(some) == 0 {
		return errs
	}
	for i, err := range storeAtOnce(ctx, g.to, some) {
		errs[at[i]] = err
	}
	return errs
}

// take takes the first members, and returns their messages, as many as go to the server at once. The mutex is held.
func (g *group) take() (members []*member, all []*backend.Message) {
	n := atOnce(g.waiting, func(w *member) *backend.Message { return w.message })
	for _, w := range g.waiting[:n] {
		w.taken = true
		if w.message != nil {
			all = append(all, w.message)
		}
	}
	members = g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	return members, all
}

// gather gives those of the last group the time to come again: else the groups are of those that are fast, and of the others, in turn.
func (g *group) gather(last int) {
	for range 20 {
		g.mu.Lock()
		n := len(g.waiting)
		g.mu.Unlock()
		if n >= last || n == 0 && last < fewestAtOnce {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}
