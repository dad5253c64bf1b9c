package backend

import (
	"context"
	"errors"
	"time"
)

const (
	// DefaultPartitions is how many partitions a queue has if its settings say nothing.
	DefaultPartitions = 64
	// MostHeld is how many messages of a partition have been delivered and are not done, at most. Those that come again are not held up by it.
	MostHeld = 32
)

// ErrMoved says that another process has the partition.
var ErrMoved = errors.New("another process has the partition")

// PartitionOf returns which of the partitions has the messages with that key. It is the same for all versions of this package: FNV-1a of 64 bits.
func PartitionOf(key string, partitions int) int {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return int(h % uint64(partitions))
}

// TermTime is after how long without a pull a process loses its partitions, if another asks for them.
func (s Settings) TermTime() time.Duration { return min(max(s.Lease/3, time.Second), 10*time.Second) }

// Turn is the place of a delivery among those of its partition.
type Turn struct {
	Term   string // of one process; "" if none has the partition
	Number uint64 // of the delivery, from 1
}

// Follows reports whether nothing was delivered between the two.
func (t Turn) Follows(before Turn) bool {
	return t.Term != "" && t.Term == before.Term && t.Number == before.Number+1
}

// State is that of a partition at one moment.
type State struct {
	Turn           // of the last delivery, with the term of this moment
	Last    uint64 // the highest Sequence of those that were delivered
	Done    uint64 // all up to that one are done, also if a server that was killed lists them again
	Pending int    // how many were delivered and are not done, whatever process has them
	Wanted  bool   // a pull waits
}

// Partition delivers the messages with a key that belong to one partition, to one process at a time. All methods but Pull may be called at once.
//
// The messages are delivered in order, except those that come again, which go first. That only one process gets them is for progress alone: a process may lose a partition at any time, while it has messages of it.
type Partition interface {
	// Pull is as that of Receiver, also for an n of more than 1 with a wait: it returns when n messages have come, or when the wait is over. The process has
	// the partition from the first message on, until it has not called Pull for TermTime or calls Release. While another one has it no message comes. If it has lost
	// the partition since the last message the error is ErrMoved, once.
	Pull(ctx context.Context, n int, wait time.Duration, take func(Delivery, Turn) bool) error
	// State returns the state.
	State(ctx context.Context) (State, error)
	// List returns the keys of the messages that are not done, of those up to that Sequence.
	List(ctx context.Context, last uint64) (map[uint64]string, error)
	// Release ends the term of whatever process has the partition.
	Release(ctx context.Context) error
	// Close is as that of Receiver.
	Close(ctx context.Context) error
}
