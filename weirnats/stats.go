package weirnats

import (
	"context"
	"time"
)

// Stats are the counts of a queue, over all processes.
type Stats struct {
	// Messages is how many messages there are. Waiting is how many of them wait for their first delivery: by
	// how much the processes that serve the queue lag behind.
	Messages, Waiting int
	// Leased is how many messages were delivered and are not done: they run, or wait for their next try.
	// JetStream does not tell these apart.
	Leased int
	// Redelivered is how many of the messages were delivered more than once.
	Redelivered int
	// Dead is how many dead letters there are.
	Dead int
	// Later is how many messages were put with [At] or [After] and are not in the queue yet: their time has
	// not come, or they wait for room, or for a process that serves the queue. They count nowhere else. A
	// message whose time comes may count twice for an instant.
	Later int
	// Accepted is how many messages the queue has accepted since it was made, including replayed ones.
	// Accepted - Messages of them have left it.
	Accepted int64
	// Oldest is when the oldest message was put, or came into the queue if it was put for later; the zero
	// time if there is none. Age is how long ago that was by the clock of the server, which also set Oldest.
	Oldest time.Time
	Age    time.Duration
}

// Stats asks the server for the counts: four small requests, whatever the size of the queue. Once a message
// with a [Key] was put, the answer to one of them has about 1 KB for each partition, and takes some ms. While
// the queue is in use, the counts are not of one moment.
func (q *Queue[T]) Stats(ctx context.Context) (Stats, error) { return q.untyped().stats(ctx) }

func (q *queue) stats(ctx context.Context) (Stats, error) {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return Stats{}, err
	}
	defer end()
	s, err := q.backend.Stats(ctx)
	if err != nil {
		return Stats{}, outward(q.name, err)
	}
	return Stats{
		Messages: s.Messages, Waiting: max(0, s.Messages-s.Leased), Leased: s.Leased, Redelivered: s.Redelivered, Dead: s.Dead, Later: s.Later,
		Accepted: int64(s.Accepted), Oldest: s.Oldest, Age: s.Age,
	}, nil
}
