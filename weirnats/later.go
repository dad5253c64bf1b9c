package weirnats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// At makes the message wait until t. Put returns when the server has the message for good. Until t the
// message counts as [Stats].Later, outside the queue and its bounds. When the server's clock shows t, a
// process that serves the queue moves the message there. Mostly that takes up to half a second; it takes
// longer if the queue is full or no process serves it, and up to 10 s longer after the process that moved
// messages was killed. From then on it is a message like others, except that [Try].Put is when it was put.
//
// If t is not in the future by the clock of this machine, the message is put at once; with an [ID] it waits
// as if t were now, since it is compared with others that wait. A t beyond the year 2261 is an error of Put.
//
// The server keeps about half a kilobyte of memory for each such message, and the whole message on the disk.
// When many become due at once, the server has them in memory too. There is no other bound: [MaxMessages] and
// [MaxBytes] do not count them. With [Server] or [Listen] the move of a message costs one more request to the
// server, and so does its end.
func At(t time.Time) PutOption { return putOption(func(o *putOptions) { o.timed, o.due = true, t }) }

// After is [At] for d after the call of After, by the clock of this machine. The clock of the server should
// agree with it.
func After(d time.Duration) PutOption {
	return putOption(func(o *putOptions) { At(time.Now().Add(d)).put(o) })
}

// lastYear is the last year whose times the server can take.
const lastYear = 2261

// postpone makes the message one that comes when it is due, if that is in the future. One with an ID may have
// been put before, when it was: so it goes the same way.
func postpone(m *backend.Message, due time.Time) error {
	now := time.Now()
	switch {
	case due.After(now):
	case m.ID == "":
		return nil
	default:
		due = now
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

// storeLater hands a message that is not due to the backend, and notes its ID: a server that starts again
// when the message is due has forgotten the ID.
func (q *queue) storeLater(ctx context.Context, m *backend.Message) error {
	err := q.store(ctx, m, nil)
	if err != nil && !errors.Is(err, backend.ErrDuplicate) || m.DedupID == "" {
		return err
	}
	// It is noted as well if it was put before: it is not known, so that Put has not seen its answer.
	return outward(q.name, q.ids.Remember(ctx, m.DedupID, m.Put))
}

// move moves due messages into the queue, until Serve must end.
func (s *server) move() {
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
		case pause < most && 2*pause >= most: // the trouble is not short
			s.complain("move messages whose time has come", err)
		}
		s.rest(pause)
	}
}
