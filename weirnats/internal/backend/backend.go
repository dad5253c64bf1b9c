// Package backend says what a queue needs of what keeps its messages. Package jets does it on JetStream, package mem in memory; package conform
// holds both to the same rules.
package backend

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

var (
	// ErrFull says that a queue has no room for a message.
	ErrFull = errors.New("weirnats: queue is full")
	// ErrDuplicate says that a message with Due, or one of several that were put at once, was put before.
	ErrDuplicate = errors.New("message was put before")
	// ErrBusy says that too many put several messages at once.
	ErrBusy = errors.New("too many put at once")
	// ErrGone says that the queue does not exist any more.
	ErrGone = errors.New("weirnats: queue does not exist any more")
	// ErrNotFound says that there is no such dead letter.
	ErrNotFound = errors.New("weirnats: no such dead letter")
)

// Settings are what all that use one queue must agree on.
type Settings struct {
	Name        string
	Replicas    int
	MaxMessages int64
	MaxBytes    int64         // -1 for no bound
	Window      time.Duration // of deduplication
	Lease       time.Duration
	Partitions  int
	Codec       string // of most messages; a queue that exists keeps the one that it was made with
}

// SettingsError says that a queue exists with another setting.
type SettingsError struct {
	Setting    string
	Want, Have string
}

// Error says what differs.
func (e *SettingsError) Error() string { return e.Setting + " is " + e.Have + ", not " + e.Want }

// MostAtOnce is how many messages PutAll takes at once.
const MostAtOnce = 500

// Message is what is put.
type Message struct {
	ID      string            // the program's; "" for none
	DedupID string            // of two messages with the same one within the window the second is dropped; "" for none
	Key     string            // messages with the same one come from one Partition; "" for those that a Receiver delivers
	Codec   string            // that has made Data
	Carry   map[string]string // what travels from the call that puts to the one that runs
	Data    []byte
	Put     time.Time // when it was put; set by the queue, if it is zero
	Due     time.Time // when it is to come into the queue; zero for at once
}

// IDHash stands for a deduplication ID. Of 10^9 two have the same with a probability of 10^-21.
type IDHash [16]byte

// HashOf returns the hash of a deduplication ID.
func HashOf(id string) IDHash {
	sum := sha256.Sum256([]byte(id))
	return IDHash(sum[:])
}

// MovedID is what the deduplication IDs of the messages begin with that [Queue].Move has put. No other one does.
const MovedID = "l"

// Failure is the error of one try.
type Failure struct {
	Try int       `json:"try"`
	Err string    `json:"err"`
	At  time.Time `json:"at"`
}

// Record is what a queue knows of a message besides the message itself. Most messages need none.
type Record struct {
	Returned int       `json:"returned,omitempty"` // deliveries that do not count as a try
	Begun    int       `json:"begun,omitempty"`    // the last try that is known to have begun, of a message that may have ended its process
	Began    time.Time `json:"began,omitzero"`     // when the first try began
	Next     time.Time `json:"next,omitzero"`      // when the next try may begin, of a message with a key
	Errors   []Failure `json:"errors,omitempty"`   // of tries, as far as they are known
}

// Dead is a message that is not delivered any more.
type Dead struct {
	Number uint64 // among the dead letters, growing
	Message
	Record
	Tries int
	Died  time.Time
}

// Kept is a message that is in the queue, delivered or not, or that waits for its time.
type Kept struct {
	Number uint64
	Message
	Record
}

// Stats are the counts of a queue.
type Stats struct {
	Messages    int           // that are in the queue, leased ones included
	Leased      int           // delivered, and neither done nor given back; those that wait for their next try included
	Redelivered int           // delivered more than once
	Dead        int           // dead letters
	Later       int           // that were put with Due, and are not in the queue yet
	Accepted    uint64        // all messages that were ever put
	Oldest      time.Time     // when the oldest message was put; zero if there is none
	Age         time.Duration // since Oldest, by the clock that has measured that
}

// Queue keeps messages. All methods may be called at once.
type Queue interface {
	// Put keeps m for good, or returns an error: ErrFull at once if there is no room. A message whose DedupID was put within the window is dropped. One with Due waits for that
	// time outside of the queue, where there is always room: Move puts it there. Its DedupID is compared with those of others that were put so; then the
	// error is ErrDuplicate.
	Put(ctx context.Context, m *Message) error
	// PutEach is Put for each of the messages, in order, which waits for all answers together. It returns the error of each.
	PutEach(ctx context.Context, all []*Message) []error
	// PutAll keeps all messages, at most MostAtOnce and none with Due, or none of them. The error is ErrDuplicate if the DedupID of one was put within the window, or is that of another; ErrFull if
	// there is no room for all; ErrBusy if another try may help.
	PutAll(ctx context.Context, all []*Message) error
	// Known reports whether a message with that DedupID was put within the window, and Remember was called for it.
	Known(ctx context.Context, id string) (bool, error)
	// Remember notes that a message with that DedupID, which was put at that time, is done, or will be at once: servers that start anew forget the IDs of those.
	Remember(ctx context.Context, id string, put time.Time) error
	// Window is that of deduplication.
	Window() time.Duration
	// Move puts messages into the queue whose time has come, until ctx is done, and then returns nil. Any other error ends it as well. A message is put once, also if several move,
	// and if one ends at any point; it waits while the queue is full. known reports whether a message, with the DedupID that it has in the queue, was put there and is done.
	Move(ctx context.Context, known func(ctx context.Context, m *Message) (bool, error)) error
	// Limit is how many bytes the Data of m may have, which is else complete: the server takes no more, or an empty queue has no room for it.
	Limit(m *Message) int
	// Receive returns what delivers messages without a key.
	Receive() (Receiver, error)
	// Partitions returns how many partitions deliver messages with a key: 0 before the first one was put.
	Partitions(ctx context.Context) (int, error)
	// Partition returns one of the partitions, from 0.
	Partition(i int) (Partition, error)
	// Peek returns the first message with a number above after, or ErrNotFound. It changes nothing.
	Peek(ctx context.Context, after uint64) (*Kept, error)
	// Later returns the first message with a number above after that waits for its time, or for room; or ErrNotFound. The numbers are not those of the queue. It changes nothing.
	Later(ctx context.Context, after uint64) (*Kept, error)
	// Next returns the first dead letter with a number above after, or ErrNotFound.
	Next(ctx context.Context, after uint64) (*Dead, error)
	// Letter returns the dead letter with that number, or ErrNotFound.
	Letter(ctx context.Context, number uint64) (*Dead, error)
	// Forget removes a dead letter. It returns ErrNotFound if there is none.
	Forget(ctx context.Context, number uint64) error
	// Purge removes all dead letters, and returns how many there were.
	Purge(ctx context.Context) (int, error)
	// Stats returns the counts.
	Stats(ctx context.Context) (Stats, error)
	// Close ends the use of the queue. Its receivers are closed before.
	Close() error
}

// Receiver delivers messages. Its methods may be called at once.
type Receiver interface {
	// Pull asks for at most n messages, and calls take for each, one after the other, on any goroutine, before it returns. If take returns false the message goes back, and
	// that delivery does not count as a try. With a wait of 0 Pull takes what the server has ready, which may be less than there is; else n is 1, and Pull waits so long for a message. When ctx is done it
	// returns its cause, and what comes late goes back in the same way.
	Pull(ctx context.Context, n int, wait time.Duration, take func(Delivery) bool) error
	// Close returns when all messages that came late have gone back, and all that was acknowledged is, or ctx is done.
	Close(ctx context.Context) error
}

// Delivery is a message with its lease. The lease holds for as long as the settings say, from Sent, or from a call of Extend that has returned nil
// within the lease before: from when that call began.
type Delivery interface {
	Message() *Message
	// Number tells the message from all others, also from those of an earlier queue of that name. It is the same for each delivery.
	Number() uint64
	// Sequence grows in the order in which the messages of a queue were put.
	Sequence() uint64
	// Count is how often the message was delivered, with this time.
	Count() int
	// More reports whether other messages waited when this one was delivered, as far as the server knew. Those that come again do not count.
	More() bool
	// Sent is a time before which the lease did not begin, with a monotonic clock.
	Sent() time.Time
	// Record returns what Keep or GiveBack has kept; the zero Record if there is none.
	Record(ctx context.Context) (*Record, error)
	// Keep keeps the record.
	Keep(ctx context.Context, r *Record) error
	// Extend renews the lease.
	Extend(ctx context.Context) error
	// Ack removes the message for good. Without confirm it does not wait until that is done. When one is confirmed, so are all calls before for messages of the same Receiver, unless the connection was lost in between.
	Ack(ctx context.Context, confirm bool) error
	// GiveBack keeps the record, unless that is nil, and ends the lease; the message is delivered again after wait.
	GiveBack(ctx context.Context, r *Record, wait time.Duration) error
	// Bury makes a dead letter of the message, unless it is one already, and removes it.
	Bury(ctx context.Context, r *Record, tries int) error
}

// Holds reports whether a lease of that length, which began at sent or later, holds at now. Servers measure leases with the clock on the wall, which may
// be set, and that stops for no program; so both clocks must agree.
func Holds(sent, now time.Time, lease time.Duration) bool {
	return now.Sub(sent) < lease && now.Round(0).Sub(sent.Round(0)) < lease
}
