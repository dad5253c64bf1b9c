package backend

import (
	"context"
	"errors"
	"time"
)

const (
	// DefaultPartitions is how many partitions a queue has if its settings say nothing.
	DefaultPartitions = 64
	// MostHeld is how many messages of a partition may be delivered and not done. Messages that come again do
	// not wait because of it.
	MostHeld = 32
)

// ErrMoved says that another process has the partition.
var ErrMoved = errors.New("another process has the partition")

// PartitionOf returns the index of the partition that has the messages with that key. It must be the same in
// all versions of this package: it is FNV-1a of 64 bits.
func PartitionOf(key string, partitions int) int {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return int(h % uint64(partitions))
}

// TermTime returns how long a process may go without a pull before it loses its partitions, if another
// process asks for them.
func (s Settings) TermTime() time.Duration { return min(max(s.Lease/3, time.Second), 10*time.Second) }

// Turn is the place of a delivery among those of its partition.
type Turn struct {
	Term   string // of one process; "" if no process has the partition
	Number uint64 // of the delivery, from 1
}

// Follows reports whether nothing was delivered between the two turns.
func (t Turn) Follows(before Turn) bool {
	return t.Term != "" && t.Term == before.Term && t.Number == before.Number+1
}

// State is the state of a partition at one moment.
type State struct {
	Turn           // the turn of the last delivery, with the current term
	Last    uint64 // the highest Sequence of the delivered messages
	Done    uint64 // all messages up to this Sequence are done, even if a server that was killed lists them again
	Pending int    // how many messages were delivered and are not done, in whatever process
	Wanted  bool   // a pull waits
}

// Partition delivers the messages with a key that belong to one partition, to one process at a time. All
// methods but Pull may be called at once.
//
// The messages are delivered in order, except that those that come again go first. Delivery to one process at
// a time is only for progress: a process may lose the partition at any time while it has messages of it.
type Partition interface {
	// Pull is like Pull of [Receiver], except that n may be more than 1 with a wait: it returns when n
	// messages have come, or when the wait is over.
	//
	// The process has the partition from the first message on, until it has not called Pull for TermTime, or
	// calls Release. While another process has the partition, no message comes. If the process has lost the
	// partition since the last message, the error is ErrMoved, once.
	Pull(ctx context.Context, n int, wait time.Duration, take func(Delivery, Turn) bool) error
	// State returns the state.
	State(ctx context.Context) (State, error)
	// List returns the keys of the messages up to that Sequence that are not done.
	List(ctx context.Context, last uint64) (map[uint64]string, error)
	// Release ends the current term, whichever process has the partition.
	Release(ctx context.Context) error
	// Close is like Close of [Receiver].
	Close(ctx context.Context) error
}
