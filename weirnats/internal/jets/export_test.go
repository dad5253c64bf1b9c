package jets

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// RecordSubject is where q, which Open has returned, keeps the record of a message that was put then.
func RecordSubject(q backend.Queue, number uint64, put time.Time) string {
	return q.(*queue).recordSubject(nameOf(number, put))
}

// MoveHalf moves a message that is due, as soon as there is one, and ends before it is removed from those for later; it comes there again.
func MoveHalf(ctx context.Context, of backend.Queue) error {
	q := of.(*queue)
	r := q.mover()
	defer r.end(ctx)
	for {
		all, err := r.takeDue(ctx, 1)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			continue
		}
		done, back, err := q.store(ctx, all, func(context.Context, *backend.Message) (bool, error) { return false, nil })
		return errors.Join(err, giveBack(ctx, append(done, back...), 0))
	}
}

// Widen is what the first message with a key begins with.
func Widen(ctx context.Context, of backend.Queue) error { return of.(*queue).widen(ctx) }

// Pulls is how many pulls of r, which Receive has returned, are under way.
func Pulls(r backend.Receiver) int {
	of := r.(*receiver)
	of.mu.Lock()
	defer of.mu.Unlock()
	return len(of.busy)
}

// Calls is how many calls of c are under way.
func Calls(c *Conn) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// SetPatience sets how long a call waits for an answer.
func SetPatience(c *Conn, d time.Duration) { c.patience = d }

// LateOnce makes the next answer to q about the stream of its messages later by d.
func LateOnce(q backend.Queue, d time.Duration) {
	of := q.(*queue)
	of.messages = &lateStream{of.messages, d}
}

type lateStream struct {
	jetstream.Stream
	by time.Duration
}

func (s *lateStream) Info(ctx context.Context, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	for began := time.Now(); time.Since(began) < s.by; { // the server is busy with other questions
		if _, err := s.Stream.Info(ctx, opts...); err != nil {
			return nil, err
		}
	}
	s.by = 0
	return s.Stream.Info(ctx, opts...)
}

// Accepted says which answer needs no decoding.
var Accepted = accepted

// Ask is where a pull for the next message of q goes, or that of partition 0, and the pull.
func Ask(q backend.Queue, keyed bool) (subject, text string) {
	of := q.(*queue)
	subject = "$JS.API.CONSUMER.MSG.NEXT." + of.messages.CachedInfo().Config.Name + "."
	if keyed {
		return subject + partitionName(0), `{"batch": 1, "expires": 10000000000, "group": "` + group + `"}`
	}
	return subject + consumer, `{"batch": 1, "expires": 10000000000}`
}
