package weirnats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	// mostErrors is how many errors of a message are kept: the first one and the last ones.
	mostErrors = 16
	// mostErrorText is how many bytes of each error are kept.
	mostErrorText = 512
	// mostUnsure is how many messages of one call of Serve may be done, without a place, before the server
	// has confirmed them. From someUnsure unconfirmed messages on, the server is asked to confirm every
	// sixteenth.
	mostUnsure, someUnsure = 256, 64
	// onRetryWait is the time until the next try if the policy's OnRetry panics or ends its goroutine: the
	// wait that the policy chose is lost then.
	onRetryWait = time.Second
)

// errProcessEnded is the error of a try that has left no other error.
var errProcessEnded = errors.New("weirnats: the process ended during the try, or lost the lease")

// Try is a call of the function that Serve was given.
type Try struct {
	// Queue is the name of the queue.
	Queue string
	// ID is the [ID] that the message was put with, and Key its [Key]; "" if it had none.
	ID, Key string
	// Number counts the tries of the message, from 1.
	Number int
	// Earlier are the errors of the earlier tries, as far as they left any.
	Earlier []Failure
	// Put is when the message was put, by the clock of the server. With [At] and [After] it is by the clock
	// of the machine whose program put the message.
	Put time.Time
}

type tryKey struct{}

// Attempt returns the try whose context ctx is, or was made from. It returns the zero Try if ctx belongs to
// none.
func Attempt(ctx context.Context) Try {
	t, _ := ctx.Value(tryKey{}).(*Try)
	if t == nil {
		return Try{}
	}
	return *t
}

// work runs a message on a place of the pool. It returns the error for the pool's OnError.
func (s *server) work(ctx context.Context, t *task) error {
	defer s.finish(t)
	s.mu.Lock()
	stopping, lost := s.stopping, t.lost
	s.mu.Unlock()
	if lost {
		return nil // lost before it began: the next delivery counts it as a try, as it cannot know better
	}
	if stopping {
		s.giveBack(t)
		return nil
	}
	ready, err := s.prepare(ctx, t)
	defer s.leaveAlone(t)
	if !ready {
		return err
	}
	call, err := s.callOf(t)
	if err != nil {
		return s.bury(t, err)
	}
	return s.try(ctx, t, call)
}

// callOf returns the call of the function with the value of a message. If the codec ends the goroutine, the
// message becomes a dead letter.
func (s *server) callOf(t *task) (call func(context.Context) error, err error) {
	returned := false
	defer func() {
		if !returned {
			_ = s.bury(t, weir.ErrGoexit) // the pool reports it
		}
	}()
	m := t.delivery.Message()
	call, err = s.decode(m.Codec, m.Data)
	returned = true
	return call, err
}

// finish ends a task, except a message with a key that stays here for its next try, and a message that
// another goroutine acknowledges.
func (s *server) finish(t *task) {
	switch {
	case t.detached:
	case t.again && s.tryLater(t):
	default:
		s.drop(t)
	}
}

func (s *server) tryContext(ctx context.Context, t *task) context.Context {
	try := t.try // the next try of a message with a key has another one
	ctx = context.WithValue(ctx, tryKey{}, &try)
	if extract := s.queue.options.extract; extract != nil {
		ctx = extract(ctx, maps.Clone(t.delivery.Message().Carry))
	}
	return ctx
}

// prepare finds out which try of the message this is. It reports false if there is no try: the message has
// gone back, waits, or is dead.
func (s *server) prepare(ctx context.Context, t *task) (ready bool, err error) {
	m := t.delivery.Message()
	begun := s.begun(t)
	switch {
	case t.record != nil: // already known for a message with a key
	case t.delivery.Count() == 1 && begun == 0:
		t.record = new(backend.Record)
	default:
		if t.record, err = s.readRecord(s.base, ctx, t); err != nil {
			t.record = nil
			if s.pulls.Err() != nil {
				s.giveBack(t)
			} else {
				s.backOff(t, err)
			}
			return false, nil
		}
	}
	if t.record.Dead > 0 { // the process ended in the middle of bury
		last := t.record.Errors[len(t.record.Errors)-1]
		t.try = Try{Queue: s.queue.name, ID: m.ID, Number: t.record.Dead}
		return false, s.die(t, errors.New(last.Err))
	}
	s.mu.Lock()
	t.started = time.Now()
	s.mu.Unlock()
	failed := 0 // the number of the last try that left an error
	if n := len(t.record.Errors); n > 0 {
		failed = t.record.Errors[n-1].Try
	}
	t.try = Try{
		Queue: s.queue.name, ID: m.ID, Key: m.Key, Number: max(t.delivery.Count()-t.record.Returned, failed+1, begun+1, t.record.Begun+1), Earlier: failures(t.record.Errors), Put: m.Put,
	}
	if t.record.Began.IsZero() {
		t.record.Began = t.started // it may have been earlier: there is no record
	}
	before := t.try.Number - 1
	if t.suspect = before != failed; !t.suspect {
		return s.begins(t), nil
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		// OnRetry has panicked, or ended the goroutine. This delivery begins no try.
		t.try.Number = before
		if t.line == nil {
			t.record.Returned++
		}
		s.fails(t, errProcessEnded, onRetryWait)
	}()
	_, again := s.queue.options.retry.Next(before, t.record.Began, errProcessEnded)
	returned = true
	if !again {
		t.try.Number = before
		return false, s.bury(t, errProcessEnded)
	}
	if before-failed >= 2 && !s.isolate(t) {
		return false, nil
	}
	return s.begins(t), nil
}

// readRecord reads the record of a message. It makes calls with ctx, while the lease of the message is
// renewed, until one succeeds or end is done.
func (s *server) readRecord(ctx, end context.Context, t *task) (*backend.Record, error) {
	for {
		r, err := s.recordOf(ctx, t)
		if err == nil {
			return r, nil
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-end.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// recordOf reads the record of a message once. If the message was behind another one of its key, no delivery
// before this one was a try.
func (s *server) recordOf(ctx context.Context, t *task) (*backend.Record, error) {
	r, err := t.delivery.Record(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && t.behind {
		r.Returned = max(r.Returned, t.delivery.Count()-1)
	}
	return r, err
}

// isolate makes sure that a message runs alone that was with two processes in a row when they ended, because
// it may have ended them. A process runs one such message at a time, and the waiting ones lose no try.
// Otherwise messages that only happened to be there would lose all their tries. isolate reports false if the
// message has gone back.
func (s *server) isolate(t *task) bool {
	ctx, cancel := s.within(s.queue.options.lease)
	defer cancel()
	t.record.Returned++ // undone when the try begins
	t.record.Begun = t.try.Number - 1
	if err := t.delivery.Keep(ctx, t.record); err != nil {
		s.backOff(t, err)
		return false
	}
	if !s.queue.takesSuspect() {
		wait := time.Second/2 + rand.N(time.Second/2)
		if t.line != nil {
			t.record.Returned--
			s.comeAgain(t, wait)
			return false
		}
		s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, wait) })
		return false
	}
	t.alone = true
	s.rest(200 * time.Millisecond) // until other suspects that came with it have gone back
	if s.pulls.Err() != nil {
		s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, 0) })
		return false
	}
	t.record.Returned--
	t.record.Begun = t.try.Number
	if err := t.delivery.Keep(ctx, t.record); err != nil {
		s.backOff(t, err)
		return false
	}
	return true
}

// takesSuspect reports whether no suspect runs (a message that may have ended its process), and if so notes
// that one does now.
func (q *queue) takesSuspect() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspect {
		return false
	}
	q.suspect = true
	return true
}

func (q *queue) endsSuspect() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.suspect = false
}

// leaveAlone undoes isolate.
func (s *server) leaveAlone(t *task) {
	if t.alone {
		t.alone = false
		s.queue.endsSuspect()
	}
}

// try makes the call, and sends the outcome to the server.
func (s *server) try(ctx context.Context, t *task, call func(context.Context) error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		panicked := recover()
		failure := weir.ErrGoexit
		if panicked != nil {
			failure = &weir.Panic{Value: panicked, Stack: panicStack()}
		}
		_ = s.end(ctx, t, failure) // the pool reports the panic
		if panicked != nil {
			panic(panicked) // the stack of the first panic is still there
		}
	}()
	err = call(s.tryContext(ctx, t))
	returned = true
	return s.end(ctx, t, err)
}

// panicStack returns the part of the stack that starts with the panic. It must be called while that stack is
// still there.
func panicStack() []byte {
	stack := debug.Stack()
	head := bytes.IndexByte(stack, '\n') + 1
	start := bytes.Index(stack, []byte("\npanic("))
	if start < head {
		return stack
	}
	return append(stack[:head:head], stack[start+1:]...)
}

// end sends the outcome of a try to the server.
func (s *server) end(ctx context.Context, t *task, err error) error {
	if err == nil {
		s.ack(t)
		return nil
	}
	s.mu.Lock()
	drained := t.drained || !t.lost && errors.Is(context.Cause(ctx), weir.ErrClosed)
	lost := t.lost
	s.mu.Unlock()
	switch {
	case lost:
		return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Err: errors.Join(ErrLost, err)}
	case drained:
		s.giveBack(t)
		return nil
	}
	returned := false
	defer func() {
		if !returned {
			s.fails(t, err, onRetryWait)
		}
	}()
	wait, again := s.queue.options.retry.Next(t.try.Number, t.record.Began, err)
	returned = true
	if !again {
		return s.bury(t, err)
	}
	s.fails(t, err, wait)
	return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Err: err}
}

// fails makes a message come again after a failed try.
func (s *server) fails(t *task, err error, wait time.Duration) {
	s.note(t, err)
	if t.line != nil {
		s.keepHere(t, wait)
		return
	}
	s.send(t, "give a message back that has failed", func(ctx context.Context) error {
		if err := t.delivery.Keep(ctx, t.record); err != nil {
			return err
		}
		if !t.suspect { // a suspect stays in the journal: a server that ends soon may forget its delivery
			s.ends(t)
		}
		return s.handBack(ctx, t, wait)
	})
}

// ack removes a message that is done, even if its lease is lost: what another process does with the message
// has no effect then. Only a message with a key is not removed after its lease is lost: see acknowledge.
func (s *server) ack(t *task) {
	s.remember(t)
	switch confirm, hold := s.mustConfirm(t); {
	case hold:
		s.acknowledge(t)
	case confirm:
		t.detached = true
		go func() {
			defer s.drop(t)
			s.acknowledge(t)
		}()
	case t.delivery.Ack(s.base, false) == nil:
		s.isDone(t)
	default:
		s.acknowledge(t)
	}
}

// mustConfirm reports whether the server must confirm that a message is done, and whether the message holds
// its place until then. It also counts the message.
//
// A message with a key must be confirmed, because the next message of its key waits for that. Without keys,
// one confirmation covers all messages before it. mustConfirm asks for it early enough that the other
// messages mostly need not hold their places: rarely if the server answers at once, more often if the server
// is far.
func (s *server) mustConfirm(t *task) (confirm, hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.line != nil {
		confirm, hold = true, s.detached >= mostUnsure
	} else {
		s.done++
		t.nth = s.done
		unsure := s.done - s.sure
		confirm = unsure >= someUnsure && s.done-s.asked >= 16
		hold = unsure > mostUnsure || t.delivery.Count() > 1
	}
	hold = hold || s.queue.options.doubleAck || s.stopping
	if confirm || hold {
		s.asked = max(s.asked, t.nth)
	}
	if confirm && !hold {
		s.detached++
	}
	return confirm, hold
}

// acknowledge removes a message that is done, and waits until the server has confirmed that. For a message
// with a key it does so only while the lease holds. If another process has the message by now, the next
// message of the key would begin while that process runs it.
func (s *server) acknowledge(t *task) {
	s.ending(t)
	ctx, cancel := s.within(s.queue.options.lease)
	if t.line != nil {
		cancel()
		var holds bool
		if ctx, cancel, holds = s.settle(t); !holds {
			cancel()
			s.complain("acknowledge a message", ErrLost)
			return
		}
	}
	defer cancel()
	if s.insist(ctx, "acknowledge a message", func(ctx context.Context) error { return t.delivery.Ack(ctx, true) }) {
		s.confirmed(t)
		s.isDone(t)
	}
}

// ending notes that from now on the server may know that a message is done.
func (s *server) ending(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ending = true
}

// confirmed notes that the server has confirmed that a message is done.
func (s *server) confirmed(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.gone = true
	s.sure = max(s.sure, t.nth)
}

// keepHere makes a message with a key wait here for its next try. If its record cannot be kept, its lease
// runs out.
func (s *server) keepHere(t *task, wait time.Duration) {
	ctx, cancel := s.within(s.queue.options.lease)
	defer cancel()
	t.record.Next = time.Now().Add(wait)
	if s.insist(ctx, "keep the error of a try", func(ctx context.Context) error { return t.delivery.Keep(ctx, t.record) }) && !t.suspect {
		s.ends(t)
	}
	s.comeAgain(t, wait)
}

// comeAgain makes a message with a key wait here, before the others of its key.
func (s *server) comeAgain(t *task, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.again, t.due = true, time.Now().Add(wait)
}

// begun returns the number of the last try that has begun, as far as the process before knew; 0 if none has.
func (s *server) begun(t *task) int {
	if s.queue.journal == nil {
		return 0
	}
	return s.queue.journal.Begun(t.delivery.Number())
}

// begins notes that a try begins, for the next process, if the number of deliveries does not tell it, or if
// the server may end with this process. It reports false if the try must not begin.
func (s *server) begins(t *task) bool {
	if again := t.delivery.Count() > 1; t.line != nil && (t.try.Number > t.delivery.Count()-t.record.Returned || again && t.behind) {
		t.record.Begun = t.try.Number
		ctx, cancel := s.within(s.queue.options.lease)
		defer cancel()
		if err := t.delivery.Keep(ctx, t.record); err != nil {
			s.complain("note that a try begins", err)
			t.record.Begun--
			s.comeAgain(t, time.Second)
			return false
		}
	}
	if s.queue.journal == nil {
		return true
	}
	if err := s.queue.journal.Begin(t.delivery.Number(), t.try.Number); err != nil {
		s.complain("note that a try begins", err)
	}
	return true
}

// isDone notes that the message is done, and will not come again if all goes well.
func (s *server) isDone(t *task) {
	if s.queue.journal != nil {
		s.queue.journal.Done(t.delivery.Number())
	}
}

// ends notes that the server knows the outcome.
func (s *server) ends(t *task) {
	if s.queue.journal == nil {
		return
	}
	if err := s.queue.journal.End(t.delivery.Number()); err != nil {
		s.complain("note that a try has ended", err)
	}
}

// note adds the error of a try to the record.
func (s *server) note(t *task, err error) {
	r := t.record
	r.Errors = append(r.Errors, backend.Failure{Try: t.try.Number, Err: cut(err), At: time.Now()})
	if n := len(r.Errors); n > mostErrors {
		r.Errors = slices.Delete(r.Errors, 1, 1+n-mostErrors)
	}
}

// cut returns as much of the text of an error as is kept.
func cut(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%T, whose method Error panicked", err)
		}
	}()
	text = strings.Map(printable, err.Error())
	if len(text) > mostErrorText {
		text = strings.ToValidUTF8(text[:mostErrorText], "")
	}
	return text
}

// printable replaces characters that take more room in JSON than they should.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

// bury makes a dead letter of a message. If that fails, the next delivery does it, and begins no try.
func (s *server) bury(t *task, err error) error {
	s.note(t, err)
	t.record.Dead = t.try.Number
	return s.die(t, err)
}

// die is bury for a message whose record says already that it must die.
func (s *server) die(t *task, err error) error {
	s.remember(t)
	s.ending(t)
	dead := s.send(t, "make a dead letter", func(ctx context.Context) error {
		if err := t.delivery.Keep(ctx, t.record); err != nil {
			return err
		}
		return t.delivery.Bury(ctx, t.record, t.try.Number)
	})
	if dead {
		s.confirmed(t)
		s.ends(t)
	}
	return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Dead: dead, Err: err}
}

// giveBack returns a message to the queue at once, without counting the try.
func (s *server) giveBack(t *task) {
	if t.looked != nil {
		<-t.looked
	}
	counted := false
	s.send(t, "give a message back", func(ctx context.Context) (err error) {
		switch {
		case t.record != nil:
		case t.delivery.Count() == 1:
			t.record = new(backend.Record)
		default:
			if t.record, err = s.recordOf(ctx, t); err != nil {
				t.record = nil
				return err
			}
		}
		if !counted {
			counted = true
			t.record.Returned++
			if n := t.try.Number; n > 0 {
				t.record.Begun = min(t.record.Begun, n-1)
			}
		}
		if err := t.delivery.Keep(ctx, t.record); err != nil {
			return err
		}
		s.isNoTry(t)
		return s.handBack(ctx, t, backend.Soon)
	})
}

// isNoTry notes that the try that has begun, if one has, does not count.
func (s *server) isNoTry(t *task) {
	switch n := t.try.Number; {
	case s.queue.journal == nil || n == 0:
	case !t.suspect:
		s.ends(t)
	case n > 1:
		if err := s.queue.journal.Begin(t.delivery.Number(), n-1); err != nil {
			s.complain("note that a try does not count", err)
		}
	}
}

// handBack gives a message back. What the journal knows of it must be right before: another call of Serve in
// this process may have the message at once. handBack sends the message back only once. If the answer to the
// first call was lost, another process may have the message. A second call would take the message from that
// process, and a third process would get it while it runs. If the message did not go back, its lease runs out.
func (s *server) handBack(ctx context.Context, t *task, wait time.Duration) error {
	if s.pulls.Err() != nil { // the server may end next
		wait = max(wait, backend.Soon)
	}
	if err := t.delivery.GiveBack(ctx, nil, wait); err != nil {
		s.complain("give a message back", err)
	}
	return nil
}

// putBack is giveBack for a task whose puller has no place.
func (s *server) putBack(t *task) {
	defer s.drop(t)
	s.giveBack(t)
}

// backOff returns a message for which it is not known which try comes next. This delivery counts as a try.
func (s *server) backOff(t *task, err error) {
	s.complain("read the record of a message", err)
	if t.line != nil {
		s.comeAgain(t, time.Second)
		return
	}
	s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, time.Second) })
}

// send sends an outcome while the lease holds: later it could harm a process that has the message by then. It
// reports whether the server has the outcome; if not, the lease runs out.
func (s *server) send(t *task, what string, send func(ctx context.Context) error) bool {
	ctx, cancel, holds := s.settle(t)
	defer cancel()
	if !holds {
		s.complain(what, ErrLost)
		return false
	}
	return s.insist(ctx, what, send)
}

// insist calls send until it succeeds, or ctx is done.
func (s *server) insist(ctx context.Context, what string, send func(ctx context.Context) error) bool {
	for {
		err := send(ctx)
		if err == nil {
			return true
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			s.complain(what, err)
			return false
		}
	}
}

func (s *server) complain(what string, err error) {
	s.queue.options.log.Warn("weirnats: queue "+s.queue.name+": could not "+what, "error", err)
}
