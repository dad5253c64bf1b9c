package jets

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	// partitionsData is the key under which the stream of messages has the number of partitions.
	partitionsData = "weir.partitions"
	// termHeader has the term of a delivery, while the consumer is pinned to one client. The server calls
	// that the ID of the pin.
	termHeader = "Nats-Pin-Id"
	// group is the priority group of the consumers that are pinned. The server requires a name, and allows one
	// group.
	group = "one"
	// mostKeyed is how many bytes a pull that does not wait asks for at most: a process pulls from many
	// partitions.
	mostKeyed = 1 << 20
	// mostMade is how many consumers are made at once.
	mostMade = 16
)

// partitionName is the name of a partition's consumer, and the last part of the subject of its messages.
func partitionName(i int) string { return fmt.Sprintf("k%03d", i) }

func (q *queue) partitionSubject(partition int) string {
	return "weir.q." + q.name + "." + partitionName(partition)
}

func keyOf(h nats.Header) string {
	key, err := url.PathUnescape(h.Get(keyHeader))
	if err != nil {
		return ""
	}
	return key
}

// partition is the configuration of a partition's consumer.
func (q *queue) partition(i int) jetstream.ConsumerConfig {
	c := q.work()
	c.Durable, c.FilterSubject = partitionName(i), q.partitionSubject(i)
	c.MaxAckPending = backend.MostHeld
	c.PriorityPolicy, c.PriorityGroups, c.PinnedTTL = jetstream.PriorityPolicyPinned, []string{group}, q.settings.TermTime()
	return c
}

// Partitions implements [backend.Queue]. The consumer of partition 0 is made last: if it exists, all do.
func (q *queue) Partitions(ctx context.Context) (int, error) {
	if q.keyed.Load() {
		return q.settings.Partitions, nil
	}
	call, cancel := q.bounded(ctx)
	defer cancel()
	have, err := q.messages.Consumer(call, partitionName(0))
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return 0, nil
	case err != nil:
		return 0, unanswered(ctx, err)
	}
	want := q.partition(0)
	if err := compareConsumers(&want, &have.CachedInfo().Config); err != nil {
		return 0, err
	}
	q.keyed.Store(true)
	return q.settings.Partitions, nil
}

// makePartitions makes the consumers of all partitions, if they do not exist. The server takes some ms for
// each.
func (q *queue) makePartitions(ctx context.Context) error {
	if q.keyed.Load() {
		return nil
	}
	select {
	case q.making <- struct{}{}:
		defer func() { <-q.making }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if n, err := q.Partitions(ctx); n > 0 || err != nil {
		return err
	}
	if err := q.widen(ctx); err != nil {
		return err
	}
	others := make([]int, q.settings.Partitions-1)
	for i := range others {
		others[i] = i + 1
	}
	err := par.Each(ctx, others, q.makePartition, par.Limit(mostMade))
	if err == nil {
		err = q.makePartition(ctx, 0)
	}
	if err != nil {
		return err
	}
	q.keyed.Store(true)
	return nil
}

// completePartitions makes what is missing for messages with keys. A server that was killed, or lost its
// power, may have forgotten the subjects of the stream, or the stream with all its consumers.
func (q *queue) completePartitions(ctx context.Context) error {
	n, err := q.Partitions(ctx)
	switch {
	case err != nil:
		return err
	case n > 0:
		return q.widen(ctx)
	case q.messages.CachedInfo().State.Msgs == 0:
		return nil
	}
	call, cancel := q.bounded(ctx)
	defer cancel()
	info, err := q.messages.Info(call, jetstream.WithSubjectFilter(q.allSubjects()[0]))
	if err != nil {
		return unanswered(ctx, err)
	}
	for subject := range info.State.Subjects {
		if subject != q.subject() {
			return q.makePartitions(ctx)
		}
	}
	return nil
}

// widen gives the stream of messages the subjects of the partitions.
func (q *queue) widen(ctx context.Context) error {
	if slices.Equal(q.messages.CachedInfo().Config.Subjects, q.allSubjects()) {
		return nil
	}
	call, cancel := q.bounded(ctx)
	defer cancel()
	now, err := q.messages.Info(call) // another program may have changed the stream meanwhile
	if err != nil {
		return unanswered(ctx, err)
	}
	c := now.Config
	c.Subjects = q.allSubjects()
	if _, err := q.js.UpdateStream(call, c); err != nil {
		return fmt.Errorf("give stream %s the subjects %s: %w", c.Name, subjects(c.Subjects), unanswered(ctx, err))
	}
	return nil
}

func (q *queue) makePartition(ctx context.Context, i int) error {
	c := q.partition(i)
	call, cancel := q.bounded(ctx)
	defer cancel()
	if _, err := q.messages.CreateConsumer(call, c); err != nil {
		return raced(err, fmt.Errorf("make consumer %s of stream %s: %w", c.Durable, q.messages.CachedInfo().Config.Name, unanswered(ctx, err)))
	}
	return nil
}

// delivered returns how many messages were delivered and are not done, and how many of them were delivered
// more than once.
func (q *queue) delivered(ctx context.Context) (pending, again int, err error) {
	if !q.keyed.Load() {
		c, err := q.messages.Consumer(ctx, consumer)
		if err != nil {
			return 0, 0, err
		}
		return c.CachedInfo().NumAckPending, c.CachedInfo().NumRedelivered, nil
	}
	all, works := q.messages.ListConsumers(ctx), false // 256 of them in one answer
	for c := range all.Info() {
		pending += c.NumAckPending
		again += c.NumRedelivered
		works = works || c.Name == consumer
	}
	if err = all.Err(); err == nil && !works { // it was removed, or a cluster does not know of it for a moment
		_, err = q.messages.Consumer(ctx, consumer)
	}
	return pending, again, err
}

// pinned is a receiver of messages from a consumer that is pinned to one client at a time. A pull without the
// term of that client waits until no client has the consumer.
type pinned struct {
	*receiver

	mu   sync.Mutex
	term string // the term of the last delivery; "" if it has ended since
}

func (q *queue) pinned(from jetstream.Stream, consumer string, lease time.Duration) *pinned {
	p := &pinned{receiver: q.receive(from, consumer, lease)}
	p.seen = p.setTerm
	return p
}

func (p *pinned) setTerm(term string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.term = term
}

// has reports whether this client had the consumer at the last look.
func (p *pinned) has() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term != ""
}

func (p *pinned) pull(ctx context.Context, ask request, take func(backend.Delivery) bool) error {
	p.mu.Lock()
	ask.Group, ask.Term = group, p.term
	p.mu.Unlock()
	err := p.receiver.pull(ctx, ask, take)
	if errors.Is(err, backend.ErrMoved) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.term == ask.Term {
			p.term = ""
		}
	}
	return err
}

func (p *pinned) Release(ctx context.Context) error {
	p.setTerm("")
	err := p.from.UnpinConsumer(ctx, p.name, group)
	p.receiver.mu.Lock()
	defer p.receiver.mu.Unlock()
	p.endTerm()
	return failed(err)
}

// partition implements [backend.Partition].
type partition struct {
	*pinned
	number  int
	subject string
}

func (q *queue) Partition(i int) (backend.Partition, error) {
	return &partition{pinned: q.pinned(q.messages, partitionName(i), q.settings.Lease), number: i, subject: q.partitionSubject(i)}, nil
}

func (p *partition) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery, backend.Turn) bool) error {
	ask := p.request(n, wait)
	if n > 1 && wait == 0 {
		ask.MaxBytes = mostKeyed // a larger message comes with a pull for one
	}
	err := p.pull(ctx, ask, func(d backend.Delivery) bool {
		of := d.(*delivery)
		return take(d, backend.Turn{Term: of.term, Number: of.meta.Sequence.Consumer})
	})
	if errors.Is(err, nats.ErrNoResponders) {
		// A server that is killed while it makes a consumer does not know it when it starts again. If the
		// consumer was then made a second time, the server does not know it when it starts once more.
		_ = p.of.makePartition(ctx, p.number) // the next pull tells whether it worked
	}
	return err
}

func (p *partition) State(ctx context.Context) (backend.State, error) {
	c, err := p.of.messages.Consumer(ctx, p.name)
	if err != nil {
		return backend.State{}, failed(err)
	}
	i := c.CachedInfo()
	s := backend.State{Turn: backend.Turn{Number: i.Delivered.Consumer}, Last: i.Delivered.Stream, Done: i.AckFloor.Stream, Pending: i.NumAckPending, Wanted: i.NumWaiting > 0}
	for _, g := range i.PriorityGroups {
		s.Term = g.PinnedClientID
	}
	return s, nil
}

// List implements [backend.Partition]. A message is in the stream until it is done.
func (p *partition) List(ctx context.Context, last uint64) (map[uint64]string, error) {
	all := make(map[uint64]string)
	for after := uint64(0); ; {
		m, err := p.of.get(ctx, p.of.messages, after+1, jetstream.WithGetMsgSubject(p.subject))
		switch {
		case errors.Is(err, backend.ErrNotFound):
			return all, nil
		case err != nil:
			return nil, err
		case m.Sequence > last:
			return all, nil
		}
		all[m.Sequence] = keyOf(m.Header)
		after = m.Sequence
	}
}
