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

// PutAll puts all values into the queue, in order, much faster than as many calls of [Queue.Put]. It returns
// how many of them are in the queue for good: the first n, or all of them if the error is nil. After an
// error, values beyond the first n may be in the queue as well. The errors are those of Put. All values are
// encoded before the first is put.
//
// id, if it is not nil, returns the [ID] of the value with that index, of 1 to 256 bytes. A value whose ID
// was put before is left out, and counts as put. key, if there is one, returns the [Key] of the value, of up
// to 256 bytes; "" is none.
//
// If the queue is full, PutAll waits for room until ctx is done. Values go to the server in portions of at
// most 500. Some values of a portion may then go ahead of others, unless one of them has a key.
func (q *Queue[T]) PutAll(ctx context.Context, values []T, id func(index int) string, key ...func(index int) string) (n int, err error) {
	return q.untyped().putAll(ctx, len(values), func(i int) any { return values[i] }, id, key)
}

func (q *queue) putAll(ctx context.Context, count int, value func(index int) any, id func(index int) string, key []func(index int) string) (n int, err error) {
	must(ctx != nil, "context must not be nil", "nil")
	for _, of := range key {
		must(of != nil, "function must not be nil", "nil")
	}
	end, err := q.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	all := make([]*backend.Message, count)
	for i := range all {
		var opts []PutOption
		if id != nil {
			opts = []PutOption{ID(id(i))}
		}
		for _, of := range key {
			if k := of(i); k != "" {
				opts = append(opts, Key(k))
			}
		}
		if all[i], err = q.message(ctx, value(i), opts); err != nil {
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

// putPortion puts messages, and returns how many of the first ones are put, or were put before.
func (q *queue) putPortion(ctx context.Context, all []*backend.Message) (n int, err error) {
	for i, err := range q.storeUnknown(ctx, all, q.storeAll) {
		if errors.Is(err, backend.ErrFull) {
			waited := true // the others of the portion came before it
			err = q.store(ctx, all[i], &waited)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return i, context.Cause(ctx)
		default:
			return i, err
		}
	}
	return len(all), nil
}

// storeUnknown stores the messages that are not known to be done, and returns the error of each of all.
func (q *queue) storeUnknown(ctx context.Context, all []*backend.Message, store func(ctx context.Context, some []*backend.Message) []error) []error {
	some, is, err := q.unknown(ctx, all)
	if err != nil {
		return slices.Repeat([]error{err}, len(all))
	}
	errs := make([]error, len(all))
	if len(some) == 0 {
		return errs
	}
	stored := store(ctx, some)
	for i := range errs {
		if is[i] {
			errs[i], stored = stored[0], stored[1:]
		}
	}
	return errs
}

// atOnce returns how many of the first elements go to the server at once. An element has one message or none.
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

// afterPuts waits until the messages of earlier Puts are stored, including a Put whose context has ended:
// later messages of their keys must come behind them.
func (q *queue) afterPuts(ctx context.Context) error {
	if q.group == nil {
		return nil
	}
	return q.group.passed(ctx)
}

// storeAll stores messages, and returns the error of each.
func (q *queue) storeAll(ctx context.Context, all []*backend.Message) []error {
	var errs []error
	switch {
	case slices.ContainsFunc(all, hasKey):
		return q.storeInOrder(ctx, all, new(bool))
	case q.group != nil:
		errs = storeAtOnce(ctx, q.backend, all)
	default:
		errs = q.backend.PutEach(ctx, all)
	}
	for i, err := range errs {
		errs[i] = outward(q.name, err)
	}
	return errs
}

// storeInOrder stores messages so that none is in the queue before an earlier one. Otherwise a message that
// finds no room could be put behind a later message of its key. storeInOrder waits for room; waited is as for
// store.
func (q *queue) storeInOrder(ctx context.Context, all []*backend.Message, waited *bool) []error {
	if len(all) == 1 {
		return []error{q.store(ctx, all[0], waited)}
	}
	if *waited {
		*waited = false
		return q.storeUnknown(ctx, all, func(ctx context.Context, some []*backend.Message) []error { return q.storeInOrder(ctx, some, waited) })
	}
	err := putAll(ctx, q.backend, all)
	if !splits(err) {
		return slices.Repeat([]error{outward(q.name, err)}, len(all))
	}
	half := len(all) / 2
	errs := q.storeInOrder(ctx, all[:half], waited)
	for _, err := range errs { // the last of them may have been put before, by another process
		if err != nil {
			return append(errs, slices.Repeat([]error{err}, len(all)-half)...)
		}
	}
	return append(errs, q.storeInOrder(ctx, all[half:], waited)...)
}

// fewestAtOnce is the number of messages from which storing them at once takes less time than one by one,
// where each is synced.
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

// splits reports whether a part of the messages may be stored after the whole was refused with err.
func splits(err error) bool {
	return errors.Is(err, backend.ErrDuplicate) || errors.Is(err, backend.ErrFull)
}

// putAll calls PutAll of a backend, and waits while the backend is busy with too many such calls.
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

// group lets Puts that come at once share a sync of the disk: while some messages are stored, the next ones
// gather.
type group struct {
	storeAll func(ctx context.Context, all []*backend.Message) []error

	mu      sync.Mutex
	waiting []*member
	busy    bool // a goroutine stores the waiting members
	stores  sync.WaitGroup
}

type member struct {
	message *backend.Message // nil for none; does not change once taken is true
	done    chan error       // capacity 1
	taken   bool             // the message is on its way; guarded by group.mu
}

// put stores a message, or returns [backend.ErrFull]. If ctx ends before the message is on its way, the
// message is not stored. If the message is on its way, it may be stored after put has returned, so put keeps
// nothing that belongs to its caller.
func (g *group) put(ctx context.Context, m *backend.Message) error {
	own := *m
	own.Data, own.Carry = bytes.Clone(m.Data), maps.Clone(m.Carry)
	return g.join(ctx, &member{message: &own, done: make(chan error, 1)})
}

// passed waits until all messages are stored whose Puts have begun. Some of these Puts may have returned
// already.
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

// causeOf returns the cause of a context whose Done is closed, even if the context does not report an error
// yet.
func causeOf(ctx context.Context) error { return cmp.Or(context.Cause(ctx), context.Canceled) }

// store stores waiting messages until none waits.
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
			errs = g.storeAll(ctx, all)
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

// storeGroup stores the messages of a group. They have waited, and the server may have started again meanwhile
// and forgotten their IDs.
func (q *queue) storeGroup(ctx context.Context, all []*backend.Message) []error {
	return q.storeUnknown(ctx, all, func(ctx context.Context, some []*backend.Message) []error { return storeAtOnce(ctx, q.backend, some) })
}

// take takes the first members, and returns their messages: as many as go to the server at once. The mutex is
// held.
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

// gather gives the callers of the last group time to put again. Otherwise a group of fast callers and a group
// of the others would take turns.
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
