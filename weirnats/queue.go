package weirnats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/check"
	"github.com/64ed045f/weir/weirnats/internal/embed"
	"github.com/64ed045f/weir/weirnats/internal/folder"
	"github.com/64ed045f/weir/weirnats/internal/jets"
	"github.com/64ed045f/weir/weirnats/internal/journal"
)

// defaultDir is the folder of an embedded server without [Dir].
const defaultDir = "weir-queues"

// setUpTime is how long Open may take if its context has no deadline.
const setUpTime = time.Minute

// Queue is a queue of values that outlives the program. [Open] makes one. All methods may be called by any
// number of goroutines at once.
type Queue[T any] struct{ queue *queue }

// queue is a queue without the type of its values. What Queue does is here, so that it is compiled once, and
// not for each type.
type queue struct {
	name    string
	options *options
	codecs  map[string]Codec
	codec   Codec // the codec of Put
	backend backend.Queue
	journal *journal.Journal // of an embedded server; otherwise nil
	ids     ids
	health  func() error // returns an error while the server cannot write
	release func() error // ends the use of the server; called after the backend is closed
	unlist  func()       // removes the queue from package exporter; nil if it is not there
	addr    net.Addr     // of an embedded server that listens; otherwise nil

	group *group // the Puts that are synced together; nil if Puts are not synced here

	keyed     context.Context // done when a message with a key was put here
	noteKeyed context.CancelFunc

	open    context.Context // done when Close begins
	shut    context.CancelCauseFunc
	mu      sync.Mutex
	closed  bool
	suspect bool           // a message runs that may have ended its process; guarded by mu
	calls   sync.WaitGroup // calls under way; grows under mu, and not after closed is true
	closing func() error   // the body of Close, called once
}

// Open returns the queue with that name, and makes it if it does not exist, on an embedded server or on that
// of [Server]. A name has 1 to 64 lower-case letters, digits, - and _, and begins with a letter or digit.
//
// If the queue exists with other settings, the error is a [*SettingsError], and nothing has changed. If
// another process has the folder of the embedded server open, the error is an [*InUseError]. If a file in the
// folder is damaged, the error is a [*DamagedError]. If this process may not write the folder, or its disk is
// full, the error names the folder.
//
// ctx bounds only the call; if ctx has no deadline, the call takes at most a minute. In either case it waits
// until an embedded server has started, which reads all files of the folder. Close the queue to end the use
// of the server. Until then the queue is in [exporter.Queues], which package weirdebug shows and
// packages weirprom and weirotel export.
func Open[T any](ctx context.Context, name string, opts ...Option) (*Queue[T], error) {
	q, err := openQueue(ctx, name, new(T), opts)
	if err != nil {
		return nil, err
	}
	return &Queue[T]{q}, nil
}

// openQueue opens the queue of values of the type that to points to.
func openQueue(ctx context.Context, name string, to any, opts []Option) (*queue, error) {
	must(ctx != nil, "context must not be nil", "nil")
	o := newOptions(opts)
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := o.checkCodec(to); err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, setUpTime)
		defer cancel()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	settings := o.settings(name)
	settings.Codec = o.codecOf(to).Name()
	s, err := o.server(name)
	if err != nil {
		return nil, err
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("weirnats: queue %s: connect: %w", name, withoutURL(err)), s.release())
	}
	b, err := jets.Open(ctx, conn, settings)
	if err != nil {
		conn.Close()
		return nil, errors.Join(outward(name, err), s.release())
	}
	q := newQueue(name, to, o, b, s)
	if err := q.openIDs(s); err != nil {
		return nil, errors.Join(err, q.closing())
	}
	q.unlist = exporter.AddQueue(name, o.where(), q.counts)
	return q, nil
}

// withoutURL returns the error without its URL, if it has one: there may be a password in it.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("URL of a server: %w", e.Err)
	}
	return err
}

func newQueue(name string, to any, o *options, b backend.Queue, s natsServer) *queue {
	q := &queue{
		name: name, options: o, backend: b, journal: s.journal, ids: b, health: s.health, release: s.release, addr: s.addr, codecs: map[string]Codec{},
	}
	for _, c := range append([]Codec{JSON(), Raw()}, o.codecs...) {
		q.codecs[c.Name()] = c
	}
	q.codec = o.codecOf(to)
	q.open, q.shut = context.WithCancelCause(context.Background())
	q.keyed, q.noteKeyed = context.WithCancel(context.Background())
	q.closing = sync.OnceValue(q.end)
	if o.durability != nil && *o.durability == Always {
		q.group = &group{storeAll: q.storeGroup}
	}
	return q
}

// codecOf returns the codec for the type that to points to.
func (o *options) codecOf(to any) Codec {
	if len(o.codecs) > 0 {
		return o.codecs[0]
	}
	if _, ok := to.(*[]byte); ok {
		return Raw()
	}
	return JSON()
}

func (o *options) checkCodec(to any) error {
	if _, ok := to.(*[]byte); !ok && o.codecOf(to).Name() == Raw().Name() {
		return fmt.Errorf("weirnats: codec raw is for []byte, not for %T", to)
	}
	return nil
}

// checkName is strict because names are parts of subjects and of file names, also on disks that do not
// distinguish upper and lower case.
func checkName(name string) error {
	if !queueName.MatchString(name) {
		return fmt.Errorf("weirnats: name of a queue must be 1 to 64 lower-case letters, digits, - and _, and begin with a letter or digit, got %q", name)
	}
	return nil
}

var queueName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func (o *options) settings(name string) backend.Settings {
	return backend.Settings{
		Name: name, Replicas: o.replicas, MaxMessages: int64(o.messages), MaxBytes: o.bytes, Window: o.window, Lease: o.lease,
		Partitions: o.partitions,
	}
}

// natsServer is a server that a queue uses.
type natsServer struct {
	connect func(...nats.Option) (*nats.Conn, error)
	journal *journal.Journal                                      // of the queue; nil if the server is not embedded
	ids     func(queue string, window time.Duration) (ids, error) // nil if the server is not embedded
	health  func() error
	release func() error
	addr    net.Addr // of an embedded server that listens
}

// dial connects to the server until ctx is done. A connection that comes after that is closed.
func (s natsServer) dial(ctx context.Context) (*jets.Conn, error) {
	type outcome struct {
		conn *jets.Conn
		err  error
	}
	dialed := make(chan outcome, 1)
	go func() {
		conn, err := jets.Connect(s.connect)
		dialed <- outcome{conn, err}
	}()
	select {
	case o := <-dialed:
		return o.conn, o.err
	case <-ctx.Done():
	}
	go func() {
		if o := <-dialed; o.err == nil {
			o.conn.Close()
		}
	}()
	return nil, context.Cause(ctx)
}

// writeTime is how long a connection may take no bytes before it counts as lost. Until then each call waits,
// whatever its context.
const writeTime = 15 * time.Second

func nothing() error { return nil }

// server returns the server that the options name. Without the name of a queue it has no journal.
func (o *options) server(queue string) (natsServer, error) {
	if o.url != "" {
		return natsServer{connect: func(own ...nats.Option) (*nats.Conn, error) {
			return nats.Connect(o.url, append(append([]nats.Option{nats.Name("weirnats"), nats.FlusherTimeout(writeTime)}, o.nats...), own...)...)
		}, health: nothing, release: nothing}, nil
	}
	at, err := o.listening()
	if err != nil {
		return natsServer{}, err
	}
	s, err := embed.Acquire(cmp.Or(o.dir, defaultDir), embed.Settings{Sync: o.durability != nil && *o.durability == Always, Listen: at}, o.log)
	if used, ok := errors.AsType[*folder.InUseError](err); ok {
		return natsServer{}, &InUseError{Dir: used.Dir, PID: used.PID, err: err}
	}
	if d, ok := errors.AsType[*check.DamagedError](err); ok {
		return natsServer{}, &DamagedError{File: d.File, Offset: d.Offset, Err: d.Err, err: err}
	}
	if err != nil {
		return natsServer{}, err
	}
	if err := s.Health(); err != nil {
		return natsServer{}, errors.Join(&BrokenError{Queue: queue, Err: err}, s.Release())
	}
	n := natsServer{connect: s.Connect, health: s.Health, release: s.Release, addr: s.Addr(), ids: func(queue string, window time.Duration) (ids, error) {
		known, err := s.IDs(queue, window)
		return inFile{known}, err
	}}
	if queue == "" {
		return n, nil
	}
	if n.journal, err = s.Journal(queue); err != nil {
		return natsServer{}, errors.Join(err, s.Release())
	}
	return n, nil
}

// checkHealth returns a [*BrokenError] while the server cannot write.
func (q *queue) checkHealth() error {
	if err := q.health(); err != nil {
		return &BrokenError{Queue: q.name, Err: err}
	}
	return nil
}

// Name returns the name of the queue.
func (q *Queue[T]) Name() string { return q.untyped().name }

func (q *Queue[T]) untyped() *queue {
	must(q != nil && q.queue != nil, "queue must be made by Open", "nil or the zero value")
	return q.queue
}

// begin begins a call; the caller calls end at its end. It returns ErrClosed if the queue is closed.
func (q *queue) begin() (end func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	q.calls.Add(1)
	return q.calls.Done, nil
}

// Close ends the calls of Serve, as the end of their contexts does, and waits for them and for all other
// calls. A Put that waits for room returns [ErrClosed]. Then Close ends the use of the server. It ends an
// embedded server if no other queue of this process uses it. Messages stay. Close may be called more than
// once.
//
// A function that Serve calls must not call Close: each would wait for the other.
func (q *Queue[T]) Close() error { return q.untyped().closing() }

func (q *queue) end() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.shut(ErrClosed)
	if q.unlist != nil {
		q.unlist()
	}
	q.calls.Wait()
	if q.group != nil {
		q.group.stores.Wait() // a Put whose context has ended may still be stored
	}
	return errors.Join(q.backend.Close(), q.release())
}

// Put puts the value into the queue, and returns nil when the queue has it for good: see [Durability]. If the
// queue is full, Put waits for room until ctx is done, and then returns the cause of ctx. The value is
// encoded before Put returns. A function that Serve calls should put into the same queue by TryPut: if all
// such functions wait for room, none makes any.
//
// Other errors are a [*TooLargeError], a [*BrokenError], [ErrClosed], [ErrGone], the error of the codec, and
// what the server or the connection answers. After an error of the connection, or the end of ctx, the message
// may or may not be in the queue: to put it again, give it an [ID]. If the server does not answer, Put
// returns an error after 15 s, or 30 s if it got several messages at once.
func (q *Queue[T]) Put(ctx context.Context, value T, opts ...PutOption) error {
	return q.untyped().put(ctx, value, true, opts)
}

// TryPut is [Queue.Put] without the wait for room: it returns [ErrFull] if there is none. It still waits for
// the server.
func (q *Queue[T]) TryPut(ctx context.Context, value T, opts ...PutOption) error {
	return q.untyped().put(ctx, value, false, opts)
}

func (q *queue) put(ctx context.Context, value any, waits bool, opts []PutOption) error {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return err
	}
	defer end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m, err := q.message(ctx, value, opts)
	if err != nil {
		return err
	}
	if m.Key != "" {
		defer q.noteKeyed()
	}
	if err := q.checkHealth(); err != nil {
		return err
	}
	if known, err := q.known(ctx, m); known || err != nil {
		return err
	}
	if !m.Due.IsZero() {
		return q.storeLater(ctx, m)
	}
	if q.group != nil {
		err := q.group.put(ctx, m)
		switch health := q.checkHealth(); {
		case err != nil && health != nil:
			return health
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case !waits || !errors.Is(err, backend.ErrFull):
			return outward(q.name, err)
		}
	}
	if !waits {
		return q.store(ctx, m, nil)
	}
	return q.store(ctx, m, new(bool))
}

// mostCarried is how many bytes of names and values may travel with a message.
const mostCarried = 4 << 10

func (q *queue) message(ctx context.Context, value any, opts []PutOption) (*backend.Message, error) {
	var o putOptions
	for _, opt := range opts {
		must(opt != nil, "option must not be nil", "nil")
		opt.put(&o)
	}
	data, err := q.codec.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("weirnats: queue %s: encode value: %w", q.name, err)
	}
	m := &backend.Message{ID: o.id, Key: o.key, Codec: q.codec.Name(), Data: data}
	if o.id != "" {
		m.DedupID = "p" + escape(o.id)
	}
	if o.timed {
		if err := postpone(m, o.due); err != nil {
			return nil, fmt.Errorf("weirnats: queue %s: %w", q.name, err)
		}
	}
	if q.options.inject != nil {
		if m.Carry, err = carried(q.options.inject(ctx)); err != nil {
			return nil, fmt.Errorf("weirnats: queue %s: what travels with a message must %w", q.name, err)
		}
	}
	if limit := q.backend.Limit(m); len(data) > limit {
		return nil, &TooLargeError{Size: len(data), Limit: limit}
	}
	return m, nil
}

// carried returns all if it may travel with a message, or an error.
func carried(all map[string]string) (map[string]string, error) {
	n := 0
	for name, value := range all {
		n += len(name) + len(value)
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("be valid UTF-8, got %q: %q", name, value)
		}
	}
	if n > mostCarried {
		return nil, fmt.Errorf("have at most %d bytes, got %d", mostCarried, n)
	}
	return all, nil
}

// store hands the message to the backend. waited, which is nil if the call does not wait for room, says whether time has
// passed since the ID was asked for, and is set when the call waits.
func (q *queue) store(ctx context.Context, m *backend.Message, waited *bool) error {
	const first, most = 2 * time.Millisecond, 250 * time.Millisecond
	for wait := first; ; wait = min(2*wait, most) {
		if waited != nil && *waited { // the server may have started again meanwhile, and forgotten the ID
			if known, err := q.known(ctx, m); known || err != nil {
				return err
			}
		}
		err := q.backend.Put(ctx, m)
		switch health := q.checkHealth(); {
		case err != nil && health != nil:
			return health
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case waited == nil || !errors.Is(err, backend.ErrFull):
			return outward(q.name, err)
		}
		*waited = true
		timer := time.NewTimer(wait/2 + rand.N(wait/2)) // the server does not report room by itself
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return causeOf(ctx)
		case <-q.open.Done():
			timer.Stop()
			return ErrClosed
		}
	}
}
