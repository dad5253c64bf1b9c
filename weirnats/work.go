package weirnats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	// mostErrors is how many errors of a message are kept: the first and the last ones.
	mostErrors = 16
	// mostErrorText is how many bytes of each are kept.
	mostErrorText = 512
)

// errProcessEnded is the error of a try that has left no other.
var errProcessEnded = errors.New("weirnats: the process ended during the try, or lost the lease")

// Try is a call of the function that Serve was given.
type Try struct {
	// Queue is the name of the queue.
	Queue string
	// ID is the [ID] that the message was put with, "" if it had none.
	ID string
	// Number counts the tries of the message, from 1.
	Number int
	// Earlier are the errors of the tries before, as far as they left any.
	Earlier []Failure
	// Put is when the message was put, by the clock of the server; with [At] and [After] by that of the machine whose program has put it.
	Put time.Time
}

type tryKey struct{}

// Attempt returns the try that ctx is the context of, or was made from; the zero Try if it is of none.
func Attempt(ctx context.Context) Try {
	t, _ := ctx.Value(tryKey{}).(*Try)
	if t == nil {
		return Try{}
	}
	return *t
}

// work runs a message, on a place of the pool. The error that it returns is for the pool's OnError.
func (s *server[T]) work(ctx context.Context, t *task) error {
	defer s.drop(t)
	s.mu.Lock()
	stopping, lost := s.stopping, t.lost
	s.mu.Unlock()
	if lost {
		return nil // before it began: the next delivery counts it, as it does not know better
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
	value, err := s.queue.decode(t.delivery.Message().Codec, t.delivery.Message().Data)
	if err != nil {
		return s.bury(t, err)
	}
	return s.try(ctx, t, value)
}

func (s *server[T]) tryContext(ctx context.Context, t *task) context.Context {
	ctx = context.WithValue(ctx, tryKey{}, &t.try)
	if extract := s.queue.options.extract; extract != nil {
		ctx = extract(ctx, t.delivery.Message().Carry)
	}
	return ctx
}

// prepare finds out which try it is. It reports false if there is none: then the message has gone back, or is dead.
func (s *server[T]) prepare(ctx context.Context, t *task) (ready bool, err error) {
	m := t.delivery.Message()
	t.record = new(backend.Record)
	begun := s.begun(t)
	if t.delivery.Count() > 1 || begun > 0 {
		if err = s.readRecord(ctx, t); err != nil {
			t.record = nil
			if s.pulls.Err() != nil {
				s.giveBack(t)
			} else {
				s.backOff(t, err)
			}
			return false, nil
		}
	}
	s.mu.Lock()
	t.started = time.Now()
	s.mu.Unlock()
	failed := 0 // the last try that left an error
	if n := len(t.record.Errors); n > 0 {
		failed = t.record.Errors[n-1].Try
	}
	t.try = Try{
		Queue: s.queue.name, ID: m.ID, Number: max(t.delivery.Count()-t.record.Returned, failed+1, begun+1, t.record.Begun+1), Earlier: failures(t.record.Errors), Put: m.Put,
	}
	if t.record.Began.IsZero() {
		t.record.Began = t.started // or earlier: no record was left
	}
	before := t.try.Number - 1
	if before == failed {
		s.begins(t)
		return true, nil
	}
	t.suspect = true
	if _, again := s.queue.options.retry.Next(before, t.record.Began, errProcessEnded); !again {
		t.try.Number = before
		return false, s.bury(t, errProcessEnded)
	}
	if before-failed >= 2 && !s.isolate(t) {
		return false, nil
	}
	s.begins(t)
	return true, nil
}

// readRecord reads the record of a message, while its lease is renewed: as long as Serve goes on, and the pool.
func (s *server[T]) readRecord(ctx context.Context, t *task) (err error) {
	for {
		if t.record, err = t.delivery.Record(s.base); err == nil {
			return nil
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// isolate makes a message run that was with two processes in a row when they ended: it may have ended them. Those that just were there each time must not lose all of
// their tries with it: so of such messages one runs at a time in a process, and what waits loses no try. isolate reports false if the message has gone back.
func (s *server[T]) isolate(t *task) bool {
	ctx, cancel := context.WithTimeout(s.base, s.queue.options.lease)
	defer cancel()
	t.record.Returned++ // until it begins
	t.record.Begun = t.try.Number - 1
	if err := t.delivery.Keep(ctx, t.record); err != nil {
		s.backOff(t, err)
		return false
	}
	if !s.queue.takesSuspect() {
		s.send(t, "give a message back", func(ctx context.Context) error {
			return t.delivery.GiveBack(ctx, nil, time.Second/2+rand.N(time.Second/2))
		})
		return false
	}
	t.alone = true
	s.rest(200 * time.Millisecond) // until others that came with it have gone back
	if s.pulls.Err() != nil {
		s.send(t, "give a message back", func(ctx context.Context) error { return t.delivery.GiveBack(ctx, nil, 0) })
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

// takesSuspect reports whether no message runs that may have ended its process, and notes that one does.
func (q *Queue[T]) takesSuspect() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspect {
		return false
	}
	q.suspect = true
	return true
}

func (q *Queue[T]) endsSuspect() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.suspect = false
}

// leaveAlone ends what isolate has begun.
func (s *server[T]) leaveAlone(t *task) {
	if t.alone {
		s.queue.endsSuspect()
	}
}

// try calls the function, and sends its outcome to the server.
func (s *server[T]) try(ctx context.Context, t *task, value T) (err error) {
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
			panic(panicked) // the stack that has panicked still stands
		}
	}()
	err = s.run(s.tryContext(ctx, t), value)
	returned = true
	return s.end(ctx, t, err)
}

// panicStack is the stack from the panic on. It is called while that still stands.
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
func (s *server[T]) end(ctx context.Context, t *task, err error) error {
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
	wait, again := s.queue.options.retry.Next(t.try.Number, t.record.Began, err)
	if !again {
		return s.bury(t, err)
	}
	s.note(t, err)
	s.send(t, "give a message back that has failed", func(ctx context.Context) error { return t.delivery.GiveBack(ctx, t.record, wait) })
	return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Err: err}
}

// ack removes a message that is done, also if its lease is lost: what another process does with it is in vain.
func (s *server[T]) ack(t *task) {
	s.remember(t)
	s.mu.Lock()
	confirm := s.queue.options.doubleAck || s.stopping
	s.mu.Unlock()
	if !confirm && t.delivery.Count() == 1 && t.delivery.Ack(s.base, false) == nil {
		s.isDone(t)
		return
	}
	ctx, cancel := context.WithTimeout(s.base, s.queue.options.lease)
	defer cancel()
	if s.insist(ctx, "acknowledge a message", func(ctx context.Context) error { return t.delivery.Ack(ctx, true) }) {
		s.isDone(t)
	}
}

// begun is the last try that has begun, as far as the process before knew; 0 if it has not.
func (s *server[T]) begun(t *task) int {
	if s.queue.journal == nil {
		return 0
	}
	return s.queue.journal.Begun(t.delivery.Number())
}

// begins notes that a try begins, where the server may end with it.
func (s *server[T]) begins(t *task) {
	if s.queue.journal == nil {
		return
	}
	if err := s.queue.journal.Begin(t.delivery.Number(), t.try.Number); err != nil {
		s.complain("note that a try begins", err)
	}
}

// isDone notes that the message will not come again, if all goes well.
func (s *server[T]) isDone(t *task) {
	if s.queue.journal != nil {
		s.queue.journal.Done(t.delivery.Number())
	}
}

// ends notes that the server knows the outcome.
func (s *server[T]) ends(t *task) {
	if s.queue.journal == nil {
		return
	}
	if err := s.queue.journal.End(t.delivery.Number()); err != nil {
		s.complain("note that a try has ended", err)
	}
}

// note adds the error of a try to the record.
func (s *server[T]) note(t *task, err error) {
	r := t.record
	r.Errors = append(r.Errors, backend.Failure{Try: t.try.Number, Err: cut(err), At: time.Now()})
	if n := len(r.Errors); n > mostErrors {
		r.Errors = slices.Delete(r.Errors, 1, 1+n-mostErrors)
	}
}

// cut returns the text of an error, as far as it is kept.
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

// printable replaces what takes more room as JSON than it should.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

// bury makes a dead letter of a message. If that fails the next delivery finds that its tries are used up.
func (s *server[T]) bury(t *task, err error) error {
	s.note(t, err)
	t.suspect = false
	s.remember(t)
	dead := s.send(t, "make a dead letter", func(ctx context.Context) error { return t.delivery.Bury(ctx, t.record, t.try.Number) })
	return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Dead: dead, Err: err}
}

// giveBack returns a message at once, without counting the try.
func (s *server[T]) giveBack(t *task) {
	counted := false
	s.send(t, "give a message back", func(ctx context.Context) (err error) {
		switch {
		case t.record != nil:
		case t.delivery.Count() == 1:
			t.record = new(backend.Record)
		default:
			if t.record, err = t.delivery.Record(ctx); err != nil {
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
		return t.delivery.GiveBack(ctx, t.record, 0)
	})
	if s.queue.journal != nil && t.suspect && t.try.Number > 1 { // what the journal has counts as a try that has begun
		if err := s.queue.journal.Begin(t.delivery.Number(), t.try.Number-1); err != nil {
			s.complain("note that a try does not count", err)
		}
	}
}

// putBack is giveBack for a task whose seat has no place.
func (s *server[T]) putBack(t *task) {
	defer s.drop(t)
	s.giveBack(t)
}

// backOff returns a message of which it is not known which try it is. This counts as one.
func (s *server[T]) backOff(t *task, err error) {
	s.complain("read the record of a message", err)
	s.send(t, "give a message back", func(ctx context.Context) error { return t.delivery.GiveBack(ctx, nil, time.Second) })
}

// send sends an outcome while the lease holds: later it could harm a process that has the message now. It reports whether the server knows; if not, the lease runs
// out.
func (s *server[T]) send(t *task, what string, send func(ctx context.Context) error) bool {
	ctx, cancel, holds := s.settle(t)
	defer cancel()
	if !holds {
		s.complain(what, ErrLost)
		return false
	}
	if !s.insist(ctx, what, send) {
		return false
	}
	if !t.suspect { // a server that ends soon may forget that it was delivered again, and then nothing else makes the next look at its record
		s.ends(t)
	}
	return true
}

// insist calls send until that succeeds, or ctx is done.
func (s *server[T]) insist(ctx context.Context, what string, send func(ctx context.Context) error) bool {
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

func (s *server[T]) complain(what string, err error) {
	s.queue.options.log.Warn("weirnats: queue "+s.queue.name+": could not "+what, "error", err)
}
