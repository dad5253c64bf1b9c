package weirnats

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// An Option sets up a [Queue].
type Option interface{ apply(*options) }

type option func(*options)

func (o option) apply(to *options) { o(to) }

type options struct {
	url        string
	nats       []nats.Option
	dir        string
	durability *Durability
	listen     *listenOptions
	replicas   int
	messages   int
	bytes      int64
	window     time.Duration
	codecs     []Codec
	retry      *weir.Retrier
	lease      time.Duration
	runLimit   time.Duration
	grace      time.Duration
	doubleAck  bool
	partitions int
	inject     func(context.Context) map[string]string
	extract    func(context.Context, map[string]string) context.Context
	log        *slog.Logger
}

func newOptions(opts []Option) *options {
	o := &options{
		replicas:   1,
		messages:   1_000_000,
		bytes:      -1,
		window:     2 * time.Minute,
		retry:      weir.Retry(weir.RetryPolicy{Tries: 10, Wait: time.Second, MostWait: 10 * time.Minute, Panics: true}),
		lease:      30 * time.Second,
		runLimit:   time.Hour,
		grace:      5 * time.Second,
		partitions: backend.DefaultPartitions,
		log:        slog.Default(),
	}
	for _, opt := range opts {
		must(opt != nil, "option must not be nil", "nil")
		opt.apply(o)
	}
	if o.url != "" {
		must(o.dir == "", "Dir is for an embedded server", "Server as well")
		must(o.durability == nil, "Durability is for an embedded server, and a setting of the server otherwise", "Server as well")
		must(o.listen == nil, "Listen is for an embedded server", "Server as well")
	} else {
		must(o.replicas == 1, "Replicas is for a cluster", "no Server")
	}
	return o
}

// Server makes the queue use the NATS servers at url instead of an embedded one. url may be several URLs,
// separated by commas. opts are options of the client, such as [nats.UserCredentials] or [nats.RootCAs]. This
// package itself sets what happens when the connection is lost, and when it is back.
func Server(url string, opts ...nats.Option) Option {
	must(url != "", "URL must not be empty", `""`)
	return option(func(o *options) { o.url, o.nats = url, opts })
}

// Dir sets the folder of the embedded server; the default is weir-queues in the working directory. If the
// folder does not exist, it is made, for its owner alone. It must be on a disk of this machine. One process
// at a time can have the folder open; within the process any number of queues may use it. All files in it
// belong to the server.
func Dir(path string) Option {
	must(path != "", "folder must not be empty", `""`)
	return option(func(o *options) { o.dir = path })
}

// Durability says when the embedded server syncs its files to the disk. It is an [Option], and must be the
// same for all queues of a folder. With [Server] it is a setting of the server.
type Durability int

const (
	// Lazy syncs every two minutes: the default. When Put returns, the operating system has the message, so
	// it survives the end of the process in whatever way. If the machine loses its power, the messages of the
	// last two minutes may be lost, or the function called with them once more.
	Lazy Durability = iota
	// Always syncs before Put returns: the message survives everything except the loss of the disk. Put takes
	// as long as the disk does, some ms.
	Always
)

// String returns Lazy or Always.
func (d Durability) String() string {
	switch d {
	case Lazy:
		return "Lazy"
	case Always:
		return "Always"
	default:
		return fmt.Sprintf("Durability(%d)", int(d))
	}
}

func (d Durability) apply(o *options) {
	must(d == Lazy || d == Always, "Durability must be Lazy or Always", d)
	o.durability = &d
}

// Replicas sets on how many servers of a cluster each message is kept: 1, which is the default, 3, or 5.
func Replicas(n int) Option {
	must(n == 1 || n == 3 || n == 5, "replicas must be 1, 3 or 5", n)
	return option(func(o *options) { o.replicas = n })
}

// MaxMessages sets how many messages the queue holds at most. Running messages count; messages that wait for
// the time of [At] or [After] do not. The default is a million. See [Queue.Put] for what happens when the
// queue is full.
func MaxMessages(n int) Option {
	must(n >= 1, "most messages must be at least 1", n)
	return option(func(o *options) { o.messages = n })
}

// MaxBytes sets how many bytes the messages of the queue take at most on the disk. It counts the same
// messages as [MaxMessages]. By default only the disk is the bound.
func MaxBytes(n int64) Option {
	must(n >= 1, "most bytes must be at least 1", n)
	return option(func(o *options) { o.bytes = n })
}

// Window sets for how long after the Put an [ID] is known; the default is two minutes. The server keeps all
// IDs of that time in memory: see [ID].
func Window(d time.Duration) Option {
	must(d >= 100*time.Millisecond, "window must be at least 100ms", d)
	return option(func(o *options) { o.window = d })
}

// Codecs sets how values are encoded: first encodes them. A message that was put with one of the others, or
// with [JSON] or [Raw], is decoded by that codec.
func Codecs(first Codec, others ...Codec) Option {
	all := append([]Codec{first}, others...)
	names := make(map[string]bool)
	for _, c := range all {
		must(c != nil, "codec must not be nil", "nil")
		name := c.Name()
		must(codecName.MatchString(name), "name of a codec must be from 1 to 64 printable ASCII characters without spaces", fmt.Sprintf("%q", name))
		must(!names[name], "codecs must have different names", fmt.Sprintf("%q twice", name))
		names[name] = true
	}
	return option(func(o *options) { o.codecs = all })
}

var codecName = regexp.MustCompile(`^[!-~]{1,64}$`)

// Retry sets how often a message is tried, and the time between tries. By default there are 10 tries, with a
// wait of up to 1 s after the first that doubles up to 10 minutes, and a panic is a failure like any other.
// Between two tries a message holds no place in the pool. Programs that serve the same queue may have
// different policies.
//
// If the policy does not set Panics, a try that panics is the last. OnRetry is called in the process in which
// the try has failed. If OnRetry panics, the pool reports only that panic, and there is another try a second
// later.
func Retry(r *weir.Retrier) Option {
	must(r != nil, "retrier must not be nil", "nil")
	return option(func(o *options) { o.retry = r })
}

// Lease sets for how long a message stays with a process that does not answer, before another process gets
// it. The default is 30 s. While a try runs, the process renews the lease every third of that time.
func Lease(d time.Duration) Option {
	must(d >= 100*time.Millisecond, "lease must be at least 100ms", d)
	return option(func(o *options) { o.lease = d })
}

// RunLimit sets for how long the lease of a try is renewed. After that the context of the try is cancelled
// with [ErrRunLimit]. If the try does not end within the lease, the message goes to another process. The
// default is an hour. Programs that serve the same queue may have different limits.
func RunLimit(d time.Duration) Option {
	must(d > 0, "limit of a run must be more than 0", d)
	return option(func(o *options) { o.runLimit = d })
}

// Grace sets for how long tries may go on when Serve ends, before their contexts are cancelled. The default
// is 5 s.
func Grace(d time.Duration) Option {
	must(d >= 0, "grace must be at least 0", d)
	return option(func(o *options) { o.grace = d })
}

// DoubleAck makes each try hold its place until the server has confirmed that the message is done. Without it
// only some tries do so. Up to 256 messages of each call of Serve, or 80 where the server is near, may then
// be done but unconfirmed, in addition to those that hold places. If the process is killed then, or loses its
// connection, the function is called with them again.
func DoubleAck() Option { return option(func(o *options) { o.doubleAck = true }) }

// Partitions sets how many partitions the queue has, from 1 to 256; the default is 64. Each partition has the
// messages of some of the keys, see [Key], and goes to one process at a time: more processes than partitions
// share no work. At most 32 messages of a partition run, or wait in processes, at once. All programs that use
// the queue must agree on the number.
func Partitions(n int) Option {
	must(1 <= n && n <= 256, "partitions must be from 1 to 256", n)
	return option(func(o *options) { o.partitions = n })
}

// Carry sends values from the call of Put to the try, such as the context of a trace. inject returns them
// from the context of Put, as at most 4 KiB of names and values in UTF-8. extract puts them into the context
// of the try. Package weirotel has such functions for OpenTelemetry: Inject and Extract.
func Carry(inject func(ctx context.Context) map[string]string, extract func(ctx context.Context, carried map[string]string) context.Context) Option {
	must(inject != nil && extract != nil, "functions must not be nil", "nil")
	return option(func(o *options) { o.inject, o.extract = inject, extract })
}

// Logger sets where the queue logs what no call returns: what the embedded server says, and messages that
// could not be given back. The default is [slog.Default]. An embedded server logs to the logger of the queue
// for which it was started.
func Logger(l *slog.Logger) Option {
	must(l != nil, "logger must not be nil", "nil")
	return option(func(o *options) { o.log = l })
}

// A PutOption says more about one message.
type PutOption interface{ put(*putOptions) }

type putOptions struct {
	id, key string
	timed   bool // by At or After
	due     time.Time
}

type putOption func(*putOptions)

func (o putOption) put(to *putOptions) { o(to) }

// ID gives the message an ID, of 1 to 256 bytes. If a message with the same ID was put within the [Window],
// the second message is not put, and Put returns nil. That holds also if the first message is done, and the
// program or the server has started again since. Only if the machine loses its power, the IDs of messages
// that were done shortly before may be forgotten.
//
// Messages that were put with [At] or [After] are compared only with each other. With [Server] or [Listen]
// each Put of an ID costs one more request to the server, and so does the end of the message.
func ID(id string) PutOption {
	must(1 <= len(id) && len(id) <= 256, "ID must have from 1 to 256 bytes", len(id))
	return putOption(func(o *putOptions) { o.id = id })
}

// Key makes messages with the same key, of 1 to 256 bytes, run one at a time, in the order in which they were
// put, over all processes that serve the queue. Messages with different keys, or with none, run at the same
// time. While a message waits for its next try, the later messages of its key wait as well. If it becomes a
// dead letter, they go on.
//
// See the package documentation for what the order is worth, and what it costs.
func Key(key string) PutOption {
	must(1 <= len(key) && len(key) <= 256, "key must have from 1 to 256 bytes", len(key))
	return putOption(func(o *putOptions) { o.key = key })
}
