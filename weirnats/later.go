package weirnats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// At makes the message wait until t. Put returns when the server has it for good; then it counts as [Stats].Later, outside of the queue and its bounds. When the clock of the
// server shows t, a process that serves the queue moves it there, mostly within half a second, and later if the queue is full or none serves it. From then it is a message like
// others, except that [Try].Put is when it was put. If t is not in the future, by the clock of this machine, the message is put at once. A t beyond the year 2261 is an error of Put.
//
// The server keeps about half a kilobyte for each such message in memory, in addition to all of it on the disk, and when many become due at once it has those in memory too. There is no
// bound but that: [MaxMessages] and [MaxBytes] do not count them. With [Server] the move of a message takes another question to the server, and its end another answer.
func At(t time.Time) PutOption { return putOption(func(o *putOptions) { o.due = t }) }

// After is [At] for d after the call of Put, by the clock of this machine: that of the server should agree with it.
func After(d time.Duration) PutOption {
	return putOption(func(o *putOptions) { o.due = time.Now().Add(d) })
}

// lastYear is the last one whose times the server can take.
const lastYear = 2261

// postpone makes a message one that comes when it is due, if that is in the future.
func postpone(m *backend.Message, due time.Time) error {
	now := time.Now()
	if !due.After(now) {
		return nil
	}
	if due.UTC().Year() > lastYear {
		return fmt.Errorf("time of a message must not be after the year %d, got %v", lastYear, due)
	}
	m.Due, m.Put = due.Round(0), now.Round(0)
	if m.ID != "" {
		m.DedupID = "w" + escape(m.ID)
	}
	return nil
}

// storeLater hands a message to the backend that is not due, and notes its ID: the server forgets that if it starts anew when the message is due.
func (q *Queue[T]) storeLater(ctx context.Context, m *backend.Message) error {
	switch err := q.store(ctx, m, false); {
	case errors.Is(err, backend.ErrDuplicate):
		return nil // noted then, and the window begins there
	case err != nil || m.DedupID == "":
		return err
	}
	return outward(q.name, q.ids.Remember(ctx, m.DedupID, m.Put))
}

// move moves what is due into the queue, until Serve is to end.
func (s *server[T]) move() {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	for pause := least; s.pulls.Err() == nil; pause = min(2*pause, most) {
		began := time.Now()
		err := s.queue.backend.Move(s.pulls, s.queue.known)
		switch {
		case s.pulls.Err() != nil:
			return
		case s.isGone():
			s.stop(ErrGone)
			return
		case time.Since(began) > most:
			pause = least
		case pause < most && 2*pause >= most: // it is no short trouble
			s.complain("move messages whose time has come", err)
		}
		s.rest(pause)
	}
}
