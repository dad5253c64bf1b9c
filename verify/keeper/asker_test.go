package keeper_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/reuse"
)

// asker is a user in Get.
type asker struct {
	books  *books
	number int
	came   time.Duration
	cancel context.CancelCauseFunc
	ended  bool   // its context is done
	fate   ending // of the Open or Check that was begun for it, if that went wrong

	at    time.Duration // when it was answered
	over  chan struct{} // closed when there is an answer
	lease reuse.Lease[*thing]
	err   error
}

// pass records that a user got an answer while another user, who came first, had none. That is allowed
// only if the other user got an answer at the same moment.
type pass struct{ by, of *asker }

// unanswered must be called with the books locked.
func (a *asker) unanswered() bool { return slices.Contains(a.books.asking, a) }

// ask begins a call of Get.
func (b *books) ask(k *reuse.Keeper[*thing], number int, done bool) *asker {
	a := &asker{books: b, number: number, came: b.now(), over: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), askerKey{}, a))
	a.cancel = cancel
	if done {
		a.leave()
	}
	b.mu.Lock()
	b.asking = append(b.asking, a)
	b.mu.Unlock()
	go func() {
		defer close(a.over)
		defer func() { a.answered(recover()) }()
		a.lease, a.err = k.Get(ctx)
	}()
	return a
}

// leave ends the context of the call.
func (a *asker) leave() {
	a.ended = true
	a.cancel(errLeft)
}

// answered notes what Get returned, or panicked with.
func (a *asker) answered(panicked any) {
	b := a.books
	b.mu.Lock()
	defer b.mu.Unlock()
	place := slices.Index(b.asking, a)
	b.asking = slices.Delete(b.asking, place, place+1)
	a.at = b.now()
	if b.now() > a.came {
		b.want.WaitTime += b.now() - a.came
	}
	p, _ := panicked.(*weir.Panic)
	switch {
	case panicked != nil:
		if a.fate != panics || p == nil || p.Value != any(errFate) {
			b.mustNot("Get of user %d panicked with %v", a.number, panicked)
		}
		b.thrown--
	case a.err == nil:
		if a.fate != well {
			b.mustNot("user %d was not told that Open has failed", a.number)
		}
		if place > 0 {
			b.passed = append(b.passed, pass{by: a, of: b.asking[0]})
		}
		b.granted(a.lease.Value())
	case errors.Is(a.err, errLeft):
		if !a.ended || a.fate != well {
			b.mustNot("user %d got %v", a.number, a.err)
		}
		b.want.Cancelled++
	case errors.Is(a.err, reuse.ErrClosed):
		if !b.closed {
			b.mustNot("user %d got %v", a.number, a.err)
		}
	case errors.Is(a.err, errFate) && a.fate == fails, errors.Is(a.err, weir.ErrGoexit) && a.fate == exits:
	default:
		b.mustNot("user %d got %v", a.number, a.err)
	}
}
