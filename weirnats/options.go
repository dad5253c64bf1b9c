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

// Server makes the queue use the NATS servers at that URL, or at those URLs with commas in between, in place of an embedded one. opts
// are those of the client, such as [nats.UserCredentials] or [nats.RootCAs]; what to do when the connection is lost, or is back, is set by this package.
func Server(url string, opts ...nats.Option) Option {
	must(url != "", "URL must not be empty", `""`)
	return option(func(o *options) { o.url, o.nats = url, opts })
}

// Dir sets the folder of the embedded server; the default is weir-queues in the working directory. If it does not exist it is made, for its owner
// alone. It must be on a disk of this machine. One process at a time can have it open; within the process any number of queues may. All files in it
// belong to the server.
func Dir(path string) Option {
	must(path != "", "folder must not be empty", `""`)
	return option(func(o *options) { o.dir = path })
}

// Durability says when the embedded server syncs its files to the disk. It is an [Option], and the same for all queues of a folder. With [Server] it is the server's.
type Durability int

const (
	// Lazy syncs every two minutes: the default. When Put returns, the message is with the operating system: it survives the end of the process in whatever way,
	// but if the machine loses its power the messages of the last two minutes may be lost, or called with once more.
	Lazy Durability = iota
	// Always syncs before Put returns: the message survives all but the loss of the disk. That takes as long as the disk does, some ms.
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

// Replicas sets on how many servers of a cluster each message is kept: 1, which is the default, 3 or 5.
func Replicas(n int) Option {
	must(n == 1 || n == 3 || n == 5, "replicas must be 1, 3 or 5", n)
	return option(func(o *options) { o.replicas = n })
}

// MaxMessages sets how many messages the queue holds at most, those that run included, and without those that wait for the time of [At] or [After]. The default is a million. See [Queue.Put] for what happens then.
func MaxMessages(n int) Option {
	must(n >= 1, "most messages must be at least 1", n)
	return option(func(o *options) { o.messages = n })
}

// MaxBytes sets how many bytes the messages of the queue take at most on the disk, counted as by [MaxMessages]. The default is no bound but the disk.
func MaxBytes(n int64) Option {
	must(n >= 1, "most bytes must be at least 1", n)
	return option(func(o *options) { o.bytes = n })
}

// Window sets for how long an [ID] is known after the Put: the default is two minutes. The server keeps all IDs of that time in memory, see [ID].
func Window(d time.Duration) Option {
	must(d >= 100*time.Millisecond, "window must be at least 100ms", d)
	return option(func(o *options) { o.window = d })
}

// Codecs sets how values are encoded: by first. Messages that were put with one of the others are decoded by that, and so are those of [JSON] and [Raw].
func Codecs(first Codec, others ...Codec) Option {
	all := append([]Codec{first}, others...)
	for _, c := range all {
		must(c != nil, "codec must not be nil", "nil")
		must(codecName.MatchString(c.Name()), "name of a codec must be from 1 to 64 printable ASCII characters without spaces", fmt.Sprintf("%q", c.Name()))
	}
	return option(func(o *options) { o.codecs = all })
}

var codecName = regexp.MustCompile(`^[!-~]{1,64}$`)

// Retry sets how often a message is tried, and the time in between. By default there are 10 tries, with a wait of up to 1 s after the first that
// doubles up to 10 minutes, and a panic is a failure like others. Programs that serve the same queue may have different policies. No place is held between two tries. Of a policy without Panics, a panic is the last try. OnRetry
// is called in the process in which the try has failed, and if it panics the pool reports that panic alone, and there is another try a second later.
func Retry(r *weir.Retrier) Option {
	must(r != nil, "retrier must not be nil", "nil")
	return option(func(o *options) { o.retry = r })
}

// Lease sets for how long a message stays with a process that does not answer, before another one gets it. The default is 30 s. While a try runs
// the lease is renewed every third of it.
func Lease(d time.Duration) Option {
	must(d >= 100*time.Millisecond, "lease must be at least 100ms", d)
	return option(func(o *options) { o.lease = d })
}

// RunLimit sets for how long the lease of a try is renewed. Then the context of the try is cancelled, with [ErrRunLimit], and if it does not end within the lease the
// message goes to another process. The default is an hour. Programs that serve the same queue may have different limits.
func RunLimit(d time.Duration) Option {
	must(d > 0, "limit of a run must be more than 0", d)
	return option(func(o *options) { o.runLimit = d })
}

// Grace sets for how long tries may go on when Serve ends, before their contexts are cancelled. The default is 5 s.
func Grace(d time.Duration) Option {
	must(d >= 0, "grace must be at least 0", d)
	return option(func(o *options) { o.grace = d })
}

// DoubleAck makes each try hold its place until the server has confirmed that the message is done. Without it only some do: so up to 256 messages of each call of Serve are done without that, 80 where
// the server is near, and those that have places. They are called with again if the process is killed, or loses its connection, then.
func DoubleAck() Option { return option(func(o *options) { o.doubleAck = true }) }

// Partitions sets how many partitions the queue has, from 1 to 256; the default is 64. Each has the messages of some of the keys, see [Key], and goes to one process at a
// time: more processes than partitions share no work. At most 32 messages of a partition run at once, or wait in processes. All programs that use the queue must agree on it.
func Partitions(n int) Option {
	must(1 <= n && n <= 256, "partitions must be from 1 to 256", n)
	return option(func(o *options) { o.partitions = n })
}

// Carry lets something travel from the call of Put to the try, such as the context of a trace: inject returns it from the context of Put, as at most 4 KiB of
// names and values in UTF-8, and extract puts it into the context of the try. Package weirotel has such functions for OpenTelemetry: Inject and Extract.
func Carry(inject func(ctx context.Context) map[string]string, extract func(ctx context.Context, carried map[string]string) context.Context) Option {
	must(inject != nil && extract != nil, "functions must not be nil", "nil")
	return option(func(o *options) { o.inject, o.extract = inject, extract })
}

// Logger sets where the queue logs what no call returns: what the embedded server says, and messages that could not be given back. The default is [slog.Default].
// An embedded server logs to that of the queue for which it was started.
func Logger(l *slog.Logger) Option {
	must(l != nil, "logger must not be nil", "nil")
	return option(func(o *options) { o.log = l })
}

// A PutOption says more about one message.
type PutOption interface{ put(*putOptions) }

type putOptions struct {
	id, key string
	due     time.Time // zero for at once
}

type putOption func(*putOptions)

func (o putOption) put(to *putOptions) { o(to) }

// ID gives the message an ID, of 1 to 256 bytes. If a message with the same ID was put within the [Window], the second is not put, and Put returns nil. That is so
// also if the first is done, and the program or the server has started anew since; only if the machine loses its power the IDs of messages that were done shortly before may be
// forgotten. With [Server] a Put of an ID takes another question to the server, and the end of such a message another answer.
// Messages that were put with [At] or [After] are compared among themselves alone.
func ID(id string) PutOption {
	must(1 <= len(id) && len(id) <= 256, "ID must have from 1 to 256 bytes", len(id))
	return putOption(func(o *putOptions) { o.id = id })
}

// Key has messages with the same key, of 1 to 256 bytes, run one at a time, in the order in which they were put, over all processes that serve the queue. Those with different keys,
// or with none, run at the same time. While a message waits for its next try, those behind it of its key wait as well; if it becomes a dead letter they go on.
//
// See the package documentation for what the order is worth, and what it costs.
func Key(key string) PutOption {
	must(1 <= len(key) && len(key) <= 256, "key must have from 1 to 256 bytes", len(key))
	return putOption(func(o *putOptions) { o.key = key })
}
