package jets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// format is the version of a queue's format on the server.
const format = "1"

// codecData is the key under which the stream of messages has the codec of messages that name none.
const codecData = "weir.codec"

// streams are the configurations of the four streams.
func (q *queue) streams() (messages, dead, records, later jetstream.StreamConfig) {
	s := q.settings
	base := jetstream.StreamConfig{Storage: jetstream.FileStorage, Replicas: s.Replicas, Metadata: map[string]string{"weir.format": format}}
	messages, dead, records, later = base, base, base, base
	messages.Metadata = map[string]string{"weir.format": format, partitionsData: strconv.Itoa(s.Partitions), codecData: s.Codec}
	messages.Name, messages.Subjects = "weir_q_"+s.Name, []string{q.subject()}
	messages.Retention, messages.Discard = jetstream.WorkQueuePolicy, jetstream.DiscardNew
	messages.MaxMsgs, messages.MaxBytes, messages.Duplicates = s.MaxMessages, s.MaxBytes, s.Window
	messages.AllowAtomicPublish = true
	dead.Name, dead.Subjects = "weir_dead_"+s.Name, []string{"weir.dead." + s.Name + ".*"}
	records.Name, records.Subjects, records.MaxMsgsPerSubject = "weir_tries_"+s.Name, []string{"weir.tries." + s.Name + ".*", "weir.keys." + s.Name + ".*"}, 1
	records.AllowMsgTTL = true
	later.Name, later.Subjects = "weir_later_"+s.Name, []string{q.laterSubject("*"), q.dueSubject("*")}
	later.Retention, later.Duplicates = jetstream.WorkQueuePolicy, s.Window
	later.AllowMsgSchedules, later.AllowRollup = true, true
	return messages, dead, records, later
}

// allSubjects are the subjects of the stream of messages from the first message with a key on. Before that,
// the stream has only the subject of messages without a key.
//
// The reason is speed. Where a stream may have more than one subject, the server reads each message again
// when it is acknowledged. If that is the first message in a file, and the message behind it was read last,
// the server drops what it has in memory of that file, up to 8 MiB. So one worker at a time got 600 messages
// a second instead of 10 000 when more than a file of them waited.
func (q *queue) allSubjects() []string { return []string{"weir.q." + q.name + ".*"} }

// mostServers is how many calls of Serve may wait at once for messages of a consumer. Beyond the server's own bound,
// 512, a call gets an error in place of messages.
const mostServers = 1 << 14

func (q *queue) work() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       consumer,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       q.settings.Lease,
		FilterSubject: q.subject(),
		MaxDeliver:    -1, // the records count the tries
		MaxAckPending: -1, // the places of the pool are the bound
		MaxWaiting:    mostServers,
		Replicas:      q.settings.Replicas,
	}
}

// due is the consumer of messages whose time has come. It is pinned, so that one process at a time moves
// messages: with several, messages of a key would change places.
func (q *queue) due() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       mover,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       q.moveLease(),
		FilterSubject: q.dueSubject("*"),
		MaxDeliver:    -1, // until there is room
		MaxAckPending: -1,
		MaxWaiting:    mostServers,
		Replicas:      q.settings.Replicas,

		PriorityPolicy: jetstream.PriorityPolicyPinned,
		PriorityGroups: []string{group},
		PinnedTTL:      q.moveLease(),
	}
}

// part is a stream of a queue, with its consumer if it has one.
type part struct {
	stream   jetstream.StreamConfig
	consumer *jetstream.ConsumerConfig
	to       *jetstream.Stream // points to nil if the stream does not exist
	consumed bool              // the consumer exists, or none must be made
	unpinned bool              // the consumer exists, and must be pinned: an earlier version made it
	all      []string          // other subjects that the stream may have
}

func (q *queue) parts() []*part {
	messages, dead, records, later := q.streams()
	work, due := q.work(), q.due()
	return []*part{
		{stream: messages, to: &q.messages, consumer: &work, all: q.allSubjects()},
		{stream: dead, to: &q.dead, consumed: true},
		{stream: records, to: &q.records, consumed: true},
		{stream: later, to: &q.later, consumer: &due},
	}
}

// setUp checks all that exists before it makes anything. It works on all parts at once, because most of the
// time goes into syncs of the disk.
func (q *queue) setUp(ctx context.Context) error {
	parts := q.parts()
	if err := each(parts, func(p *part) error { return p.check(ctx, q.js) }); err != nil {
		return err
	}
	return each(parts, func(p *part) error { return p.make(ctx, q.js) })
}

// each calls f with all parts at once. It returns the error of the first part that has one.
func each(parts []*part, f func(*part) error) error {
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { errs[i] = f(p) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// check compares what exists with what is wanted.
func (p *part) check(ctx context.Context, js jetstream.JetStream) error {
	s, err := js.Stream(ctx, p.stream.Name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("look for stream %s: %w", p.stream.Name, err)
	}
	have := &s.CachedInfo().Config
	if p.all != nil && slices.Equal(have.Subjects, p.all) {
		p.stream.Subjects = p.all
	}
	if err := compareStreams(&p.stream, have); err != nil {
		return err
	}
	*p.to = s
	if p.consumed {
		return nil
	}
	c, err := s.Consumer(ctx, p.consumer.Durable)
	switch {
	case err == nil:
		have := c.CachedInfo().Config
		if have.Durable == mover && have.PriorityPolicy == jetstream.PriorityPolicyNone {
			p.unpinned = true
			have.PriorityPolicy, have.PriorityGroups = p.consumer.PriorityPolicy, p.consumer.PriorityGroups
		}
		p.consumed = !p.unpinned
		return compareConsumers(p.consumer, &have)
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil
	}
	return fmt.Errorf("look for consumer %s of stream %s: %w", p.consumer.Durable, p.stream.Name, err)
}

// make makes what does not exist.
func (p *part) make(ctx context.Context, js jetstream.JetStream) (err error) {
	if *p.to == nil {
		if *p.to, err = js.CreateStream(ctx, p.stream); err != nil {
			return raced(err, fmt.Errorf("make stream %s: %w", p.stream.Name, err))
		}
	}
	if p.consumed {
		return nil
	}
	set := (*p.to).CreateConsumer
	if p.unpinned {
		set = (*p.to).UpdateConsumer
	}
	if _, err = set(ctx, *p.consumer); err != nil {
		return raced(err, fmt.Errorf("make consumer %s of stream %s: %w", p.consumer.Durable, p.stream.Name, err))
	}
	return nil
}

// raced returns the error to report if another program makes the same part with other settings at this
// moment; otherwise it returns other.
func raced(err, other error) error {
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) || errors.Is(err, jetstream.ErrConsumerExists) {
		return &backend.SettingsError{Setting: "a setting", Have: "being made by another program at this moment", Want: "the given one"}
	}
	return other
}

// setting is a setting that must be the same.
type setting struct{ name, want, have string }

func compareStreams(want, have *jetstream.StreamConfig) error {
	if f := have.Metadata["weir.format"]; f != format {
		return &backend.SettingsError{Setting: "format of stream " + want.Name, Want: format, Have: strconv.Quote(f)}
	}
	return compare([]setting{
		{"Replicas", fmt.Sprint(want.Replicas), fmt.Sprint(have.Replicas)},
		{"MaxMessages", bound(want.MaxMsgs), bound(have.MaxMsgs)},
		{"MaxBytes", bound(want.MaxBytes), bound(have.MaxBytes)},
		{"Window", window(want.Duplicates), window(have.Duplicates)},
		{"Partitions", want.Metadata[partitionsData], have.Metadata[partitionsData]},
		{"retention of stream " + want.Name, want.Retention.String(), have.Retention.String()},
		{"discard policy of stream " + want.Name, want.Discard.String(), have.Discard.String()},
		{"storage of stream " + want.Name, want.Storage.String(), have.Storage.String()},
		{"subjects of stream " + want.Name, subjects(want.Subjects), subjects(have.Subjects)},
		{"schedules of stream " + want.Name, strconv.FormatBool(want.AllowMsgSchedules), strconv.FormatBool(have.AllowMsgSchedules)},
	})
}

func compareConsumers(want, have *jetstream.ConsumerConfig) error {
	of := " of consumer " + want.Durable
	return compare([]setting{
		{"Lease", want.AckWait.String(), have.AckWait.String()},
		{"acknowledgement" + of, want.AckPolicy.String(), have.AckPolicy.String()},
		{"subject" + of, want.FilterSubject, have.FilterSubject},
		{"most deliveries" + of, bound(int64(want.MaxDeliver)), bound(int64(have.MaxDeliver))},
		{"most unacknowledged messages" + of, bound(int64(want.MaxAckPending)), bound(int64(have.MaxAckPending))},
		{"priority policy" + of, fmt.Sprint(want.PriorityPolicy, want.PriorityGroups), fmt.Sprint(have.PriorityPolicy, have.PriorityGroups)},
	})
}

func compare(settings []setting) error {
	for _, s := range settings {
		if s.want != s.have {
			return &backend.SettingsError{Setting: s.name, Want: s.want, Have: s.have}
		}
	}
	return nil
}

// bound formats a bound for which the server takes 0 as none.
func bound(n int64) string {
	if n <= 0 {
		return "without bound"
	}
	return strconv.FormatInt(n, 10)
}

// window formats a window for which the server takes 0 as its default.
func window(d time.Duration) string {
	if d == 0 {
		d = 2 * time.Minute
	}
	return d.String()
}

func subjects(s []string) string { return strings.Join(slices.Sorted(slices.Values(s)), " ") }

// sweep removes the records of messages that are gone. Their process ended after it had removed the message
// and before it removed the record.
func (q *queue) sweep(ctx context.Context) error {
	if q.records.CachedInfo().State.Msgs == 0 {
		return nil
	}
	messages, err := q.messages.Info(ctx)
	if err != nil {
		return failed(err)
	}
	prefix := q.recordSubject("")
	info, err := q.records.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return failed(err)
	}
	for subject := range info.State.Subjects {
		text, _, _ := strings.Cut(strings.TrimPrefix(subject, prefix), "-")
		number, err := strconv.ParseUint(text, 10, 64)
		if err == nil && number >= messages.State.FirstSeq {
			continue
		}
		if err := q.records.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return failed(err)
		}
	}
	return nil
}
