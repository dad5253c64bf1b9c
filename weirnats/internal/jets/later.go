package jets

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Messages that are put for later wait in a stream of their own, because the server refuses schedules in a
// stream that is bounded. Each message is a schedule on a subject of its own: of two on one subject the
// server keeps only the second. When the time has come, the server puts the message on a subject of due
// messages, without the headers that begin with Nats-, and removes the schedule.
//
// A mover takes the message from there to the queue, with a deduplication ID that is made from the subject.
// So the message is put once, even if a mover ends before it has removed the message here, or the server ends
// before it has removed the schedule.

// mover is the name of the consumer of messages that are due.
const mover = "due"

// Known is the function by which Move asks whether a message is done.
type Known = func(ctx context.Context, m *backend.Message) (bool, error)

// at is the prefix of the schedule of a message that comes once.
const at = "@at "

const (
	// mostMoved is how many messages a mover takes at once.
	mostMoved = 64
	// moverWait is how long one pull of a mover waits.
	moverWait = 30 * time.Second
)

func (q *queue) laterSubject(name string) string { return "weir.later." + q.name + "." + name }
func (q *queue) dueSubject(name string) string   { return "weir.due." + q.name + "." + name }

// moveLease is the lease of a mover. The lease of the queue may be too short: a mover that waits for the disk
// would lose its messages. It may also be too long: messages of a process that ends would come late.
func (q *queue) moveLease() time.Duration {
	return max(time.Second, min(10*time.Second, q.settings.Lease))
}

// schedule makes the message one that comes when it is due.
func (q *queue) schedule(out *nats.Msg, due time.Time) {
	name := nuid.Next()
	out.Subject = q.laterSubject(name)
	out.Header[jetstream.ScheduleHeader] = []string{at + due.UTC().Format(time.RFC3339Nano)}
	out.Header[jetstream.ScheduleTargetHeader] = []string{q.dueSubject(name)}
}

func (q *queue) Later(ctx context.Context, after uint64) (*backend.Kept, error) {
	m, err := q.get(ctx, q.later, after+1, jetstream.WithGetMsgSubject("weir.*."+q.name+".*"))
	if err != nil {
		return nil, err
	}
	k := &backend.Kept{Number: m.Sequence, Message: *q.message(m.Header, m.Data, m.Time)}
	if k.Due, err = time.Parse(time.RFC3339Nano, strings.TrimPrefix(m.Header.Get(jetstream.ScheduleHeader), at)); err != nil {
		k.Due = m.Time // the time at which the server saw that it was due
	}
	return k, nil
}

func (q *queue) Move(ctx context.Context, known Known) error {
	const least, most = 10 * time.Millisecond, 250 * time.Millisecond
	r := q.mover()
	defer r.end(ctx)
	n, pause := 1, least
	for ctx.Err() == nil {
		all, err := r.takeDue(ctx, n)
		full := false
		if len(all) > 0 {
			var moveErr error
			full, moveErr = q.move(ctx, all, pause, known)
			err = errors.Join(moveErr, err)
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return err
		case full: // try with one message until there is room
			rest(ctx, pause)
			n, pause = 1, min(2*pause, most)
		case len(all) > 0:
			n, pause = min(2*n, mostMoved), least
		}
	}
	return nil
}

// mover returns what delivers the messages that are due, to one process at a time.
func (q *queue) mover() *pinned {
	r := q.pinned(q.later, mover, q.moveLease())
	r.bare = true
	return r
}

// end ends the use of a receiver whose messages have all been moved.
func (p *pinned) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	if p.has() {
		_ = p.Release(ctx) // if it fails, another process moves when the term is over
	}
	_ = p.Close(ctx) // what does not go back now goes back after the lease
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// takeDue takes up to n messages, as soon as there is one. It may return messages together with an error.
func (p *pinned) takeDue(ctx context.Context, n int) (all []*delivery, err error) {
	wait := moverWait
	if p.has() {
		wait = p.lease / 2 // so that the next pull is in time to stay the mover
	}
	take := func(d backend.Delivery) bool {
		all = append(all, d.(*delivery))
		return true
	}
	err = p.pull(ctx, p.request(1, wait), take)
	if err == nil && len(all) > 0 && n > 1 {
		err = p.pull(ctx, p.request(n-1, 0), take)
	}
	if errors.Is(err, backend.ErrMoved) { // another process moves
		return all, nil
	}
	return all, failed(err)
}

// move puts messages into the queue, and removes here those that the queue has. The others come again after
// wait. move reports whether the queue was full. When ctx is done, move goes on for a while: otherwise these
// messages would be held up.
func (q *queue) move(ctx context.Context, all []*delivery, wait time.Duration, known Known) (full bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.moveLease()*2/5)
	defer cancel()
	done, back, err := q.store(ctx, all, known)
	full = errors.Is(err, backend.ErrFull)
	if full {
		err = nil
	}
	return full, errors.Join(err, forget(ctx, done), giveBack(ctx, back, wait))
}

// store puts messages into the queue, except those that are known. It returns the messages that the queue has
// or had, the others, and an error of one of the others.
func (q *queue) store(ctx context.Context, all []*delivery, known Known) (done, back []*delivery, err error) {
	// All are asked for at once: where the server is far, one after the other could take longer than the lease.
	type question struct {
		m     backend.Message
		known bool
		err   error
	}
	asked := make([]*question, len(all))
	for i, d := range all {
		asked[i] = &question{m: *d.content, err: context.DeadlineExceeded} // until there is an answer
		asked[i].m.DedupID = backend.MovedID + strings.TrimPrefix(d.subject, q.dueSubject(""))
	}
	_ = par.Each(ctx, asked, func(ctx context.Context, a *question) error {
		a.known, a.err = known(ctx, &a.m)
		return nil
	}, par.Limit(mostMoved))
	var from []*delivery
	var put []*backend.Message
	for i, a := range asked {
		switch d := all[i]; {
		case a.err != nil:
			back, err = append(back, d), a.err
		case a.known:
			done = append(done, d)
		default:
			from, put = append(from, d), append(put, &a.m)
		}
	}
	for i, e := range q.PutEach(ctx, put) {
		if e == nil {
			done = append(done, from[i])
			continue
		}
		back = append(back, from[i])
		if err == nil || errors.Is(e, backend.ErrFull) {
			err = e
		}
	}
	return done, back, err
}

// forget removes messages that were moved. The server processes acknowledgements in order: when it has
// confirmed the last one, all messages are gone.
func forget(ctx context.Context, moved []*delivery) error {
	for i, d := range moved {
		if err := d.Ack(ctx, i == len(moved)-1); err != nil {
			return err
		}
	}
	return nil
}

func giveBack(ctx context.Context, all []*delivery, wait time.Duration) error {
	return par.Each(ctx, all, func(ctx context.Context, d *delivery) error { return d.GiveBack(ctx, nil, wait) }, par.Limit(mostMoved), par.KeepGoing())
}
