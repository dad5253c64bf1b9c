// Package backend says what a queue needs from a store of its messages. Package jets keeps messages on
// JetStream, package mem in memory. Package conform holds both to the same rules.
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
	// ErrDuplicate says that a message with Due, or one of several messages that were put at once, was put
	// before.
	ErrDuplicate = errors.New("message was put before")
	// ErrBusy says that too many callers put several messages at once.
	ErrBusy = errors.New("too many put at once")
	// ErrCut says that the connection to the server is closed for good.
	ErrCut = errors.New("connection to the server is closed")
	// ErrGone says that the queue does not exist any more.
	ErrGone = errors.New("weirnats: queue does not exist any more")
	// ErrNotFound says that there is no such dead letter.
	ErrNotFound = errors.New("weirnats: no such dead letter")
)

// Settings are what all users of one queue must agree on.
type Settings struct {
	Name        string
	Replicas    int
	MaxMessages int64
	MaxBytes    int64         // -1 for no bound
	Window      time.Duration // of deduplication
	Lease       time.Duration
	Partitions  int
	Codec       string // of most messages; a queue keeps the codec that it was made with
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
	ID      string            // the program's ID; "" for none
	DedupID string            // of two messages with the same DedupID within the window the second is dropped; "" for none
	Key     string            // messages with the same key come from one Partition; "" for messages that a Receiver delivers
	Codec   string            // the codec that made Data
	Carry   map[string]string // what travels from the call of Put to the try
	Data    []byte
	Put     time.Time // when it was put; set by the queue if zero
	Due     time.Time // when it must come into the queue; zero: at once
}

// IDHash stands for a deduplication ID. Among 10^9 IDs, two have the same hash with a probability of 10^-21.
type IDHash [16]byte

// HashOf returns the hash of a deduplication ID.
func HashOf(id string) IDHash {
	sum := sha256.Sum256([]byte(id))
	return IDHash(sum[:])
}

// MovedID is the prefix of the deduplication IDs of messages that [Queue].Move has put. No other ID has it.
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
	Begun    int       `json:"begun,omitempty"`    // the last try that is known to have begun, where the count of deliveries does not tell
	Began    time.Time `json:"began,omitzero"`     // when the first try began
	Next     time.Time `json:"next,omitzero"`      // when the next try may begin; for a message with a key
	Errors   []Failure `json:"errors,omitempty"`   // the errors of tries, as far as they are known
	Dead     int       `json:"dead,omitempty"`     // the try after which the message is a dead letter, or is about to be one; 0 for none
}

// Dead is a message that is not delivered any more.
type Dead struct {
	Number uint64 // its number among the dead letters; a later one has a higher number
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
	Messages    int           // messages in the queue, including leased ones
	Leased      int           // delivered, and neither done nor given back; includes those that wait for their next try
	Redelivered int           // delivered more than once
	Dead        int           // dead letters
	Later       int           // messages that were put with Due, and are not in the queue yet
	Accepted    uint64        // all messages that were ever put
	Oldest      time.Time     // when the oldest message was put; zero if there is none
	Age         time.Duration // the time since Oldest, by the clock that measured Oldest
}

// Queue keeps messages. All methods may be called at once.
type Queue interface {
	// Put keeps m for good, or returns an error: ErrFull at once if there is no room. If the DedupID of m was
	// put within the window, Put drops m.
	//
	// A message with Due waits outside the queue, where there is always room, until Move puts it into the
	// queue. Its DedupID is compared only with those of other messages with Due. If it was put within the
	// window, the error is ErrDuplicate.
	Put(ctx context.Context, m *Message) error
	// PutEach is Put for each of the messages, in order, but it waits for all answers together. It returns
	// the error of each message.
	PutEach(ctx context.Context, all []*Message) []error
	// PutAll keeps all messages or none of them. There must be at most MostAtOnce, and none with Due. The
	// error is ErrDuplicate if the DedupID of a message was put within the window, or equals that of another
	// message in all. It is ErrFull if there is no room for all, and ErrBusy if another try may help.
	PutAll(ctx context.Context, all []*Message) error
	// Known reports whether a message with that DedupID was put within the window, and Remember was called
	// for it.
	Known(ctx context.Context, id string) (bool, error)
	// Remember notes that a message with that DedupID, which was put at time put, is done, or will be at
	// once. A server that starts again forgets the IDs of such messages.
	Remember(ctx context.Context, id string, put time.Time) error
	// Window returns the window of deduplication.
	Window() time.Duration
	// Move puts messages into the queue whose time has come, until ctx is done, and then returns nil. Any
	// other error also ends it. A message is put once, even if several processes move, or if one ends at any
	// point. It waits while the queue is full. known reports whether a message, with the DedupID that it has
	// in the queue, was put there and is done.
	Move(ctx context.Context, known func(ctx context.Context, m *Message) (bool, error)) error
	// Limit returns how many bytes the Data of m, whose other fields are set, may have: beyond that the
	// server takes no message, or an empty queue has no room for it. It returns -1 if there is no room for the
	// other fields alone.
	Limit(m *Message) int
	// Receive returns a receiver of the messages without a key.
	Receive() (Receiver, error)
	// Partitions returns how many partitions deliver messages with a key: 0 before the first such message was
	// put.
	Partitions(ctx context.Context) (int, error)
	// Partition returns one of the partitions, from 0.
	Partition(i int) (Partition, error)
	// Peek returns the first message with a number above after, or ErrNotFound. It changes nothing.
	Peek(ctx context.Context, after uint64) (*Kept, error)
	// Later returns the first message with a number above after that waits for its time, or for room, or
	// ErrNotFound. The numbers are not those of the queue. It changes nothing.
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
	// Close ends the use of the queue. Its receivers must be closed before.
	Close() error
}

// Receiver delivers messages. Its methods may be called at once.
type Receiver interface {
	// Pull asks for at most n messages, and calls take for each before it returns: one call after the other,
	// on any goroutine. If take returns false, the message goes back, and the delivery does not count as a
	// try.
	//
	// With a wait of 0, Pull takes what the server has ready, which may be less than there is. Otherwise n is
	// 1, and Pull waits at most that long for a message. When ctx is done, Pull returns its cause, and a
	// message that comes late goes back in the same way.
	Pull(ctx context.Context, n int, wait time.Duration, take func(Delivery) bool) error
	// Close returns when all messages that came late have gone back, as far as the receiver finds them, and
	// all acknowledgements are processed, or when ctx is done.
	Close(ctx context.Context) error
}

// Delivery is a message with its lease. The lease begins at Sent, and lasts as long as the settings say. A
// call of Extend that returns nil within the lease renews it: the new lease begins when that call began.
type Delivery interface {
	Message() *Message
	// Number distinguishes the message from all others, including those of an earlier queue of that name. It
	// is the same for each delivery.
	Number() uint64
	// Sequence grows in the order in which the messages of a queue were put.
	Sequence() uint64
	// Count returns how often the message was delivered, including this time.
	Count() int
	// More reports whether other messages waited when this one was delivered, as far as the server knew.
	// Messages that come again do not count.
	More() bool
	// Sent returns a time, with a monotonic clock, before which the lease did not begin.
	Sent() time.Time
	// Record returns the record that Keep or GiveBack has kept, or the zero Record if there is none. If the
	// server has sent the message to a receiver that had just ended, and the message is young, Record notes
	// that this delivery does not count as a try.
	Record(ctx context.Context) (*Record, error)
	// Keep keeps the record.
	Keep(ctx context.Context, r *Record) error
	// Extend renews the lease.
	Extend(ctx context.Context) error
	// Ack removes the message for good. Without confirm it does not wait until the server has done that. A
	// confirmed call also confirms all earlier calls for messages of the same Receiver, unless the connection
	// was lost in between.
	Ack(ctx context.Context, confirm bool) error
	// GiveBack keeps the record, unless it is nil, and ends the lease. The message is delivered again after
	// wait. A server keeps in its file when that is, but not that it is at once: if it starts again after a
	// call with a wait of 0, the message may come only when its lease would have ended. So a process gives
	// messages back with a wait of Soon if it may end next, and its server with it, or if the message has not
	// been tried. With a wait of 0 a message comes also while others go back all the time: for each that goes
	// back with a wait, a server waits another 10 ms before it looks which messages are due.
	GiveBack(ctx context.Context, r *Record, wait time.Duration) error
	// Bury makes a dead letter of the message, unless there is one already, and removes the message.
	Bury(ctx context.Context, r *Record, tries int) error
}

// Soon is the shortest wait of GiveBack that a server keeps. It takes the server some ms.
const Soon = time.Nanosecond

// Holds reports whether a lease of that length, which began at sent or later, holds at now. Servers measure
// leases with the wall clock, which may be set, and which does not stop while a program does. So both the
// wall clock and the monotonic clock must agree.
func Holds(sent, now time.Time, lease time.Duration) bool {
	return now.Sub(sent) < lease && now.Round(0).Sub(sent.Round(0)) < lease
}
