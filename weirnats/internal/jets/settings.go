package jets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// format is the version of what a queue is made of.
const format = "1"

// streams are the configurations of the three streams.
func (q *queue) streams() (messages, dead, records jetstream.StreamConfig) {
	s := q.settings
	base := jetstream.StreamConfig{Storage: jetstream.FileStorage, Replicas: s.Replicas, Metadata: map[string]string{"weir.format": format}}
	messages, dead, records = base, base, base
	messages.Name, messages.Subjects = "weir_q_"+s.Name, []string{"weir.q." + s.Name + ".*"}
	messages.Retention, messages.Discard = jetstream.WorkQueuePolicy, jetstream.DiscardNew
	messages.MaxMsgs, messages.MaxBytes, messages.Duplicates = s.MaxMessages, s.MaxBytes, s.Window
	messages.AllowAtomicPublish = true
	dead.Name, dead.Subjects = "weir_dead_"+s.Name, []string{"weir.dead." + s.Name + ".*"}
	records.Name, records.Subjects, records.MaxMsgsPerSubject = "weir_tries_"+s.Name, []string{"weir.tries." + s.Name + ".*", "weir.keys." + s.Name + ".*"}, 1
	records.AllowMsgTTL = true
	return messages, dead, records
}

func (q *queue) work() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       consumer,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       q.settings.Lease,
		FilterSubject: q.subject(),
		MaxDeliver:    -1, // tries are counted by the records
		MaxAckPending: -1, // places are the bound
		MaxWaiting:    1 << 14,
		Replicas:      q.settings.Replicas,
	}
}

// setUp checks all that exists before it makes anything.
func (q *queue) setUp(ctx context.Context) error {
	messages, dead, records := q.streams()
	wanted := []jetstream.StreamConfig{messages, dead, records}
	to := []*jetstream.Stream{&q.messages, &q.dead, &q.records}
	for i, w := range wanted {
		s, err := q.js.Stream(ctx, w.Name)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			continue
		case err != nil:
			return fmt.Errorf("look for stream %s: %w", w.Name, err)
		}
		if err := compareStreams(&w, &s.CachedInfo().Config); err != nil {
			return err
		}
		*to[i] = s
	}
	work := q.work()
	exists := false
	if q.messages != nil {
		c, err := q.messages.Consumer(ctx, consumer)
		switch {
		case err == nil:
			exists = true
			if err := compareConsumers(&work, &c.CachedInfo().Config); err != nil {
				return err
			}
		case !errors.Is(err, jetstream.ErrConsumerNotFound):
			return fmt.Errorf("look for consumer %s of stream %s: %w", consumer, messages.Name, err)
		}
	}
	for i, w := range wanted {
		if *to[i] != nil {
			continue
		}
		var err error
		if *to[i], err = q.js.CreateStream(ctx, w); err != nil {
			return raced(err, fmt.Errorf("make stream %s: %w", w.Name, err))
		}
	}
	if exists {
		return nil
	}
	if _, err := q.messages.CreateConsumer(ctx, work); err != nil {
		return raced(err, fmt.Errorf("make consumer %s of stream %s: %w", consumer, messages.Name, err))
	}
	return nil
}

// raced returns what to report if another program has made the same with other settings in this moment; else other.
func raced(err, other error) error {
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) || errors.Is(err, jetstream.ErrConsumerExists) {
		return &backend.SettingsError{Setting: "a setting", Have: "being made by another program at this moment", Want: "the given one"}
	}
	return other
}

// setting is one that must be the same.
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
		{"retention of stream " + want.Name, want.Retention.String(), have.Retention.String()},
		{"discard policy of stream " + want.Name, want.Discard.String(), have.Discard.String()},
		{"storage of stream " + want.Name, want.Storage.String(), have.Storage.String()},
		{"subjects of stream " + want.Name, subjects(want.Subjects), subjects(have.Subjects)},
	})
}

func compareConsumers(want, have *jetstream.ConsumerConfig) error {
	return compare([]setting{
		{"Lease", want.AckWait.String(), have.AckWait.String()},
		{"acknowledgement of consumer " + consumer, want.AckPolicy.String(), have.AckPolicy.String()},
		{"subject of consumer " + consumer, want.FilterSubject, have.FilterSubject},
		{"most deliveries of consumer " + consumer, bound(int64(want.MaxDeliver)), bound(int64(have.MaxDeliver))},
		{"most unacknowledged messages of consumer " + consumer, bound(int64(want.MaxAckPending)), bound(int64(have.MaxAckPending))},
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

// bound is one where the server takes 0 for none.
func bound(n int64) string {
	if n <= 0 {
		return "without bound"
	}
	return strconv.FormatInt(n, 10)
}

// window is one where the server takes 0 for its default.
func window(d time.Duration) string {
	if d == 0 {
		d = 2 * time.Minute
	}
	return d.String()
}

func subjects(s []string) string { return strings.Join(slices.Sorted(slices.Values(s)), " ") }

// sweep removes the records of messages that are gone: their process ended between the end of the message and that of the record.
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
