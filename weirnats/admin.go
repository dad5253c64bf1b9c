package weirnats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/embed"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

// ErrNoQueue is the error of [Admin.Queue] if there is no queue with that name, and of [OpenAdmin] if the
// folder has no queues at all.
var ErrNoQueue = errors.New("weirnats: no such queue")

// Admin looks after the queues of a folder or a server, whatever the types of their values. It makes no
// queue, changes no settings, and takes no message from the processes that serve a queue. [OpenAdmin] makes
// one. All methods may be called by any number of goroutines at once.
type Admin struct {
	options *options
	server  natsServer
	conn    *jets.Conn
	closing func() error // the body of Close, called once

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // calls under way, except those of views; grows under mu, and not after closed is true
	views  map[string]*View
}

// OpenAdmin returns an Admin of the queues on the embedded server of [Dir] or on that of [Server]. If another
// process has the folder open, the error is an [*InUseError]; if a file in it is damaged, a [*DamagedError].
// If there is no such folder, or no queue in it, the error is [ErrNoQueue], and nothing is made.
//
// Of the other options, [Durability], [Listen] and [Logger] matter. With [Always], what Replay puts is safe
// before the dead letter is removed.
//
// If ctx is done when OpenAdmin is called, the error is its cause. The end of ctx does not end the call,
// which lasts as long as the server takes to start, or the client to connect. Close the Admin to end the use
// of the server.
func OpenAdmin(ctx context.Context, opts ...Option) (*Admin, error) {
	must(ctx != nil, "context must not be nil", "nil")
	o := newOptions(opts)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := o.mustExist(); err != nil {
		return nil, err
	}
	s, err := o.server("")
	if err != nil {
		return nil, err
	}
	conn, err := jets.Connect(s.connect)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("weirnats: connect: %w", withoutURL(err)), s.release())
	}
	a := &Admin{options: o, server: s, conn: conn, views: make(map[string]*View)}
	a.closing = sync.OnceValue(a.end)
	return a, nil
}

// mustExist returns an error if there is no folder in which an embedded server has kept queues.
func (o *options) mustExist() error {
	if o.url != "" {
		return nil
	}
	dir := cmp.Or(o.dir, defaultDir)
	switch _, err := os.Stat(filepath.Join(dir, embed.Store)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: folder %s has none", ErrNoQueue, dir)
	case err != nil:
		return fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	return nil
}

// begin begins a call; the caller calls end at its end. It returns ErrClosed if the Admin is closed.
func (a *Admin) begin() (end func(), err error) {
	must(a != nil && a.conn != nil, "Admin must be made by OpenAdmin", "nil or the zero value")
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	a.calls.Add(1)
	return a.calls.Done, nil
}

// Close waits for all calls, including those of the views, and ends the use of the server. A Replay that
// waits for room returns [ErrClosed]. Close may be called more than once.
func (a *Admin) Close() error {
	must(a != nil && a.conn != nil, "Admin must be made by OpenAdmin", "nil or the zero value")
	return a.closing()
}

func (a *Admin) end() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.calls.Wait()
	for _, v := range a.views {
		_ = v.queue.closing() // a view has nothing of its own to release
	}
	a.conn.Close()
	return a.server.release()
}

// Queues returns the names of all queues, in order.
func (a *Admin) Queues(ctx context.Context) ([]string, error) {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := a.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	names, err := jets.Names(ctx, a.conn)
	if err != nil {
		return nil, fmt.Errorf("weirnats: list queues: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return checkName(name) != nil }), nil
}

// Queue returns a view of the queue with that name. The error is [ErrNoQueue] if there is none.
func (a *Admin) Queue(ctx context.Context, name string) (*View, error) {
	must(ctx != nil, "context must not be nil", "nil")
	if err := checkName(name); err != nil {
		return nil, err
	}
	end, err := a.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	b, err := jets.Find(ctx, a.conn, name)
	if errors.Is(err, backend.ErrGone) {
		return nil, fmt.Errorf("%w: %s", ErrNoQueue, name)
	}
	if err != nil {
		return nil, outward(name, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.views[name] == nil {
		v := &View{newQueue(name, new([]byte), a.options, b, natsServer{health: a.server.health, release: nothing})}
		if err := v.queue.openIDs(a.server); err != nil {
			return nil, err
		}
		a.views[name] = v
	}
	return a.views[name], nil
}

// View is a queue as an [Admin] sees it, without the type of its values. All methods may be called by any
// number of goroutines at once. They return [ErrClosed] when the Admin is closed, and [ErrGone] if the queue
// does not exist any more.
type View struct{ queue *queue }

// Message is a message in a queue, as [View.Peek] finds it, or a message that waits for its time, as
// [View.Later] finds it.
type Message struct {
	// Number is the number of the message in its queue, or among the messages that wait for their time, from
	// 1.
	Number uint64
	// ID is the [ID] that the message was put with, "" if it had none.
	ID string
	// Key is the [Key] that the message was put with, "" if it had none.
	Key string
	// Codec is the name of the codec that encoded Data.
	Codec string
	// Data is the value as it was put.
	Data []byte
	// Errors are the errors of the tries so far: the first and the last 15.
	Errors []Failure
	// Put is when the message was put.
	Put time.Time
	// Due is when the message is to come into the queue. It may lie in the past if there was no room, or no
	// process to move the message. It is zero for a message in the queue.
	Due time.Time
}

func (v *View) untyped() *queue {
	must(v != nil && v.queue != nil, "View must be made by Admin.Queue", "nil or the zero value")
	return v.queue
}

// Name returns the name of the queue.
func (v *View) Name() string { return v.untyped().name }

// Stats is [Queue.Stats].
func (v *View) Stats(ctx context.Context) (Stats, error) { return v.untyped().stats(ctx) }

// Dead is [Queue.Dead].
func (v *View) Dead(ctx context.Context) iter.Seq2[DeadLetter, error] { return v.untyped().dead(ctx) }

// Replay is [Queue.Replay].
func (v *View) Replay(ctx context.Context, id string) error { return v.untyped().replay(ctx, id) }

// PurgeAll is [Queue.PurgeAll].
func (v *View) PurgeAll(ctx context.Context) (removed int, err error) {
	return v.untyped().purgeAll(ctx)
}

// Purge is [Queue.Purge].
func (v *View) Purge(ctx context.Context, ids ...string) (removed int, err error) {
	return v.untyped().purge(ctx, ids)
}

// Peek returns the messages in the queue, the oldest first: those that wait, and those that were delivered
// and are not done. It takes none of them away, and does not count as a delivery. Each message is read when
// its turn comes, so messages that come meanwhile are among them. A pair with an error is the last.
func (v *View) Peek(ctx context.Context) iter.Seq2[Message, error] {
	must(ctx != nil, "context must not be nil", "nil")
	q := v.untyped()
	return q.each(func(after uint64) (*backend.Kept, error) { return q.backend.Peek(ctx, after) })
}

// Later returns the messages that were put with [At] or [After] and are not in the queue yet, in the order in
// which they were put. Otherwise it is like [View.Peek].
func (v *View) Later(ctx context.Context) iter.Seq2[Message, error] {
	must(ctx != nil, "context must not be nil", "nil")
	q := v.untyped()
	return q.each(func(after uint64) (*backend.Kept, error) { return q.backend.Later(ctx, after) })
}

// each returns all messages that next finds, each with its number.
func (q *queue) each(next func(after uint64) (*backend.Kept, error)) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for after := uint64(0); ; {
			k, err := q.call(next, after)
			if errors.Is(err, backend.ErrNotFound) {
				return
			}
			if err != nil {
				yield(Message{}, outward(q.name, err))
				return
			}
			if !yield(Message{Number: k.Number, ID: k.ID, Key: k.Key, Codec: k.Codec, Data: k.Data, Errors: failures(k.Errors), Put: k.Put, Due: k.Due}, nil) {
				return
			}
			after = k.Number
		}
	}
}

func (q *queue) call(next func(after uint64) (*backend.Kept, error), after uint64) (*backend.Kept, error) {
	end, err := q.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	return next(after)
}
