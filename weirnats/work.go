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
	// mostErrors is how many errors of a message are kept: the first and the last ones.
	mostErrors = 16
	// mostErrorText is how many bytes of each are kept.
	mostErrorText = 512
	// mostUnsure is how many messages are done at most, for one call of Serve, without holding their places until the server has confirmed that. From someUnsure on the server is asked to, for every sixteenth.
	mostUnsure, someUnsure = 256, 64
	// onRetryWait is the time until the next try if OnRetry of the policy panics, or ends the goroutine: the one that the policy has chosen is lost with that.
	onRetryWait = time.Second
)

// errProcessEnded is the error of a try that has left no other.
var errProcessEnded = errors.New("weirnats: the process ended during the try, or lost the lease")

// Try is a call of the function that Serve was given.
type Try struct {
	// Queue is the name of the queue.
	Queue string
	// ID is the [ID] that the message was put with, Key its [Key]; "" if it had none.
	ID, Key string
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
	defer s.finish(t)
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
	value, err := s.decode(t)
	if err != nil {
		return s.bury(t, err)
	}
	return s.try(ctx, t, value)
}

// decode returns the value of a message. If the codec ends the goroutine the message is a dead letter.
func (s *server[T]) decode(t *task) (value T, err error) {
	returned := false
	defer func() {
		if !returned {
			_ = s.bury(t, weir.ErrGoexit) // the pool reports it
		}
	}()
	m := t.delivery.Message()
	value, err = s.queue.decode(m.Codec, m.Data)
	returned = true
	return value, err
}

// finish is for a task that has ended. A message with a key may stay.
func (s *server[T]) finish(t *task) {
	switch {
	case t.detached:
	case t.again && s.tryLater(t):
	default:
		s.drop(t)
	}
}

func (s *server[T]) tryContext(ctx context.Context, t *task) context.Context {
	try := t.try // the next try of a message with a key has another one
	ctx = context.WithValue(ctx, tryKey{}, &try)
	if extract := s.queue.options.extract; extract != nil {
		ctx = extract(ctx, maps.Clone(t.delivery.Message().Carry))
	}
	return ctx
}

// prepare finds out which try it is. It reports false if there is none: then the message has gone back, or is dead.
func (s *server[T]) prepare(ctx context.Context, t *task) (ready bool, err error) {
	m := t.delivery.Message()
	begun := s.begun(t)
	switch {
	case t.record != nil: // of a message with a key
	case t.delivery.Count() == 1 && begun == 0:
		t.record = new(backend.Record)
	default:
		if t.record, err = s.readRecord(s.base, ctx, t.delivery); err != nil {
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
		Queue: s.queue.name, ID: m.ID, Key: m.Key, Number: max(t.delivery.Count()-t.record.Returned, failed+1, begun+1, t.record.Begun+1), Earlier: failures(t.record.Errors), Put: m.Put,
	}
	if t.record.Began.IsZero() {
		t.record.Began = t.started // or earlier: no record was left
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

// readRecord reads the record of a message by calls with the first context, while its lease is renewed, until the second is done.
func (s *server[T]) readRecord(ctx, end context.Context, d backend.Delivery) (*backend.Record, error) {
	for {
		r, err := d.Record(ctx)
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
		wait := time.Second/2 + rand.N(time.Second/2)
		if t.line != nil {
			t.record.Returned--
			s.comeAgain(t, wait)
			return false
		}
		s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, nil, wait) })
		return false
	}
	t.alone = true
	s.rest(200 * time.Millisecond) // until others that came with it have gone back
	if s.pulls.Err() != nil {
		s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, nil, 0) })
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
		t.alone = false
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

// fails has a message come again after a try that has failed.
func (s *server[T]) fails(t *task, err error, wait time.Duration) {
	s.note(t, err)
	if t.line != nil {
		s.keepHere(t, wait)
		return
	}
	s.send(t, "give a message back that has failed", func(ctx context.Context) error { return s.handBack(ctx, t, t.record, wait) })
}

// ack removes a message that is done, also if its lease is lost, unless it has a key: what another process does with it is in vain.
func (s *server[T]) ack(t *task) {
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

// mustConfirm reports whether the server must confirm that a message is done, and whether the message holds its place until then, and counts it. For one with a key the next one of that waits. Of those
// without, one asks for all before it, soon enough that the others mostly need not hold their places: one in a while if the server answers at once, more if that is far.
func (s *server[T]) mustConfirm(t *task) (confirm, hold bool) {
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

// acknowledge removes a message that is done, and waits until the server has confirmed that. For one with a key it does so only while the lease holds: of one that another process has, the next of
// its key would begin while it runs there.
func (s *server[T]) acknowledge(t *task) {
	s.ending(t)
	ctx, cancel := context.WithTimeout(s.base, s.queue.options.lease)
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

// ending notes that the server may know from now on that a message is done.
func (s *server[T]) ending(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ending = true
}

// confirmed notes that the server has confirmed that a message is done.
func (s *server[T]) confirmed(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.gone = true
	s.sure = max(s.sure, t.nth)
}

// keepHere has a message with a key that has failed wait here for its next try. If that cannot be kept its lease runs out.
func (s *server[T]) keepHere(t *task, wait time.Duration) {
	ctx, cancel := context.WithTimeout(s.base, s.queue.options.lease)
	defer cancel()
	t.record.Next = time.Now().Add(wait)
	if s.insist(ctx, "keep the error of a try", func(ctx context.Context) error { return t.delivery.Keep(ctx, t.record) }) && !t.suspect {
		s.ends(t)
	}
	s.comeAgain(t, wait)
}

// comeAgain has a message with a key wait here, before the others of its key.
func (s *server[T]) comeAgain(t *task, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.again, t.due = true, time.Now().Add(wait)
}

// begun is the last try that has begun, as far as the process before knew; 0 if it has not.
func (s *server[T]) begun(t *task) int {
	if s.queue.journal == nil {
		return 0
	}
	return s.queue.journal.Begun(t.delivery.Number())
}

// begins notes that a try begins, where the number of deliveries does not tell the next process, or the server may end with it. It reports false if it is not to begin.
func (s *server[T]) begins(t *task) bool {
	if t.line != nil && t.try.Number > t.delivery.Count()-t.record.Returned {
		t.record.Begun = t.try.Number
		ctx, cancel := context.WithTimeout(s.base, s.queue.options.lease)
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
	s.ending(t)
	dead := s.send(t, "make a dead letter", func(ctx context.Context) error { return t.delivery.Bury(ctx, t.record, t.try.Number) })
	if dead {
		s.confirmed(t)
	}
	return &TryError{Queue: s.queue.name, ID: t.try.ID, Try: t.try.Number, Dead: dead, Err: err}
}

// giveBack returns a message at once, without counting the try.
func (s *server[T]) giveBack(t *task) {
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
		return s.handBack(ctx, t, t.record, 0)
	})
	if s.queue.journal != nil && t.suspect && t.try.Number > 1 { // what the journal has counts as a try that has begun
		if err := s.queue.journal.Begin(t.delivery.Number(), t.try.Number-1); err != nil {
			s.complain("note that a try does not count", err)
		}
	}
}

// handBack gives a message back, and keeps the record if that is not nil. It gives it back only once: if the first answer was lost, another process may have the message, and the
// second call would take it from that, so that a third gets it while it runs. If it did not go back its lease runs out.
func (s *server[T]) handBack(ctx context.Context, t *task, r *backend.Record, wait time.Duration) error {
	if r != nil {
		if err := t.delivery.Keep(ctx, r); err != nil {
			return err
		}
	}
	if err := t.delivery.GiveBack(ctx, nil, wait); err != nil {
		s.complain("give a message back", err)
	}
	return nil
}

// putBack is giveBack for a task whose seat has no place.
func (s *server[T]) putBack(t *task) {
	defer s.drop(t)
	s.giveBack(t)
}

// backOff returns a message of which it is not known which try it is. This counts as one.
func (s *server[T]) backOff(t *task, err error) {
	s.complain("read the record of a message", err)
	if t.line != nil {
		s.comeAgain(t, time.Second)
		return
	}
	s.send(t, "give a message back", func(ctx context.Context) error { return s.handBack(ctx, t, nil, time.Second) })
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
