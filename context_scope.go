package weir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/race"
)

// scope is the part of the context that all tasks of a batch share: see member.
//
// Groups inside tasks are many and small, and a context of the standard library
// costs as much as their tasks. So a scope whose parent is a scope gets one only
// when a task asks for what only that context can give: a channel, a value, a
// context made from it. Until then the scope is in a list of its parent, which
// hands cancellations down.
type scope struct {
	batch  *batch
	parent context.Context
	base   context.Context // the nearest standard one, from which cancellations come too

	std    atomic.Pointer[standardContext]
	ending atomic.Bool // the scope is cancelled
	ended  atomic.Bool // err and cause are final
	lasts  bool        // the parent is never done: only cancel ends the scope

	mu         sync.Mutex // may be taken under that of the parent, never the other way round
	err, cause error
	below      fifo.List[scope]
	above      *scope           // in whose list this one stands
	link       fifo.Link[scope] // in that list; under the mutex of above
}

type standardContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// newStandard returns one that is made from parent. If err is not nil, that is how it has ended.
func newStandard(parent context.Context, err, cause error) *standardContext {
	if errors.Is(err, context.Canceled) {
		parent = context.WithoutCancel(parent) // which may have ended since, for another cause
	}
	std := new(standardContext)
	std.Context, std.cancel = context.WithCancelCause(parent)
	if err != nil {
		std.cancel(cause)
	}
	return std
}

// endOf returns how a context ends that is cancelled with that cause: as from, if that has ended.
func endOf(from context.Context, cause error) (err, final error) {
	if err = errOf(from); err != nil {
		return err, causeOf(from)
	}
	if cause == nil {
		cause = context.Canceled
	}
	return context.Canceled, cause
}

// scopeOf returns the scope of the batch whose task's context ctx is, or nil.
func scopeOf(ctx context.Context) *scope {
	if m, ok := ctx.(*member); ok {
		m.seen()
		return m.scope
	}
	return nil
}

// seen is called by each method that a goroutine may call first on the scope. Without it, the race detector would not
// know that the batch was made before.
//
//go:norace
func (s *scope) seen() {
	if race.Enabled {
		s.batch.made.Acquire()
	}
}

// isForeign reports whether the methods of ctx are most likely the program's own code, which the library should not
// call for each task, or under a mutex.
func isForeign(ctx context.Context) bool { return tellsLate(ctx) && reflect.TypeOf(ctx) != valued }

var valued = reflect.TypeOf(context.WithValue(context.Background(), hostKey{}, nil))

// tellsLate reports whether a context made from ctx may be cancelled later than ctx itself: the standard library
// starts a goroutine to watch a context of another type.
func tellsLate(ctx context.Context) bool {
	return scopeOf(ctx) == nil && !slices.Contains(prompt, reflect.TypeOf(ctx))
}

// prompt lists the types of contexts that cancel the contexts made from them on the goroutine that cancels them. A context
// with values is not among them, as it may wrap a context of any type.
var prompt = func() (types []reflect.Type) {
	none := context.Background()
	cancelled, cancel := context.WithCancel(none)
	cancel()
	timed, cancel := context.WithTimeout(none, 0)
	cancel()
	for _, ctx := range []context.Context{none, context.WithoutCancel(none), cancelled, timed} {
		types = append(types, reflect.TypeOf(ctx))
	}
	return types
}()

// open begins the scope of b, and returns the context to ask whether it has ended, unless cancel has ended it.
func (s *scope) open(parent context.Context, b *batch) context.Context {
	s.batch, s.parent = b, parent
	above := scopeOf(parent)
	if above != nil {
		s.openBelow(above)
		return s
	}
	if b.group.asks && parent.Done() != nil {
		s.base = s.standard()
		return s.base
	}
	s.base, s.lasts = parent, parent.Done() == nil
	return parent
}

func (s *scope) openBelow(above *scope) {
	s.base = above.base
	above.mu.Lock()
	defer above.mu.Unlock()
	if above.ended.Load() {
		s.final(above.err, above.cause)
		return
	}
	s.above = above
	above.below.Append(&s.link, s)
	s.ending.Store(above.ending.Load()) // a cancellation is on its way
}

// conclude ends the scope, of which all tasks are over. It returns the cause if the scope has ended before.
func (s *scope) conclude() (cause error) {
	if s.batch.group.asks || !s.endsUnused() {
		cause = s.endsLate()
	}
	if above := s.above; above != nil {
		above.mu.Lock()
		above.below.Remove(&s.link)
		above.mu.Unlock()
	}
	return cause
}

// endsUnused is end for a scope that has not ended and from which no context was made, in a third of the
// code. It reports false for other scopes.
func (s *scope) endsUnused() bool {
	lasts := s.lasts || errOf(s.base) == nil // before the mutex is held: it may be the program's own code
	s.mu.Lock()
	unused := lasts && !s.ending.Load() && s.std.Load() == nil && s.below.First() == nil
	if unused {
		s.final(context.Canceled, context.Canceled)
	}
	s.mu.Unlock()
	return unused
}

// endsLate is conclude for all others. It is rare: see [Group.initInTask].
//
//go:noinline
func (s *scope) endsLate() (cause error) {
	if s.ending.Load() {
		s.awaitEnd()
	}
	var late error
	if s.batch.group.asks {
		late = quietly(func() error { return context.Cause(s.parent) }) // before the mutex is held, too
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return s.cause
	}
	if std := s.std.Load(); std != nil {
		cause = context.Cause(std)
	}
	if cause == nil && errOf(s.base) != nil {
		cause = causeOf(s.base)
	}
	if cause == nil {
		cause = late
	}
	s.end(cause)
	return cause
}

// awaitEnd waits until the cancellation that has stopped s has reached it. Until then the mutex of the
// highest scope that it stopped is locked.
func (s *scope) awaitEnd() {
	if above := s.above; above != nil && !s.ended.Load() {
		above.awaitEnd()
		above.mu.Lock()
		defer above.mu.Unlock()
	}
}

// settle waits until the standard context of a cancelled scope is done as well. The standard library cancels
// the contexts made from a context one after the other, and there may be thousands.
func (s *scope) settle() {
	if s.ending.Load() {
		s.awaitEnd()
		s.cancel(nil) // has no effect but to wait for the end that has begun
		return
	}
	std := s.std.Load()
	if std == nil || std.Err() != nil {
		return // one that is made later learns of the end at once
	}
	if s.above != nil {
		s.above.settle() // which tells std
	} else if tellsLate(s.parent) && !isDone(s.parent) {
		s.cancel(context.Cause(s.parent)) // its Done may never be closed
	}
	<-std.Done()
}

func isDone(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// final makes err and cause final. The mutex is held.
func (s *scope) final(err, cause error) {
	s.err, s.cause = err, cause
	s.ending.Store(true)
	s.ended.Store(true)
}

// cancel does what the function of [context.WithCancelCause] does.
func (s *scope) cancel(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(cause)
}

// end makes err and cause final, and hands them down: those from above if the scope
// was cancelled from there before. The mutex is held.
func (s *scope) end(cause error) {
	if s.ended.Load() {
		return
	}
	from, std := s.base, s.std.Load()
	s.stop() // first: a task that sees that it is cancelled must find that its groups are
	if std != nil && !s.lasts {
		if errOf(s.base) != nil { // which std does not know yet, and may never: it then says that it was cancelled, also where a deadline is the cause
			cause = causeOf(s.base)
		}
		std.cancel(cause)
		from = std
	}
	s.final(endOf(from, cause))
	if s.batch.subtasks == nil && !s.batch.tally.Sealed() {
		s.batch.notify(nil) // Wait has no other way to learn of it
	}
	for l := s.below.First(); l != nil; l = l.Next() {
		l.Of().cancel(s.cause)
	}
	if std != nil && s.lasts {
		std.cancel(s.cause) // last, as stop is first
	}
}

// stop prevents tasks of the scope, and of those below it, from starting. The scopes below one that has
// stopped have stopped already. The caller holds the mutex.
func (s *scope) stop() {
	if s.ending.Load() {
		return
	}
	s.ending.Store(true)
	for l := s.below.First(); l != nil; l = l.Next() {
		below := l.Of()
		below.mu.Lock()
		below.stop()
		below.mu.Unlock()
	}
}

// standard returns the standard context of the scope, and makes it if need be.
func (s *scope) standard() context.Context {
	s.seen()
	if std := s.std.Load(); std != nil {
		return std
	}
	if above := scopeOf(s.parent); above != nil {
		above.standard() // before the mutex below is held
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if std := s.std.Load(); std != nil {
		return std
	}
	std := newStandard(s.parent, s.err, s.cause)
	s.std.Store(std)
	return std
}

func (s *scope) Done() <-chan struct{} { return s.standard().Done() }

func (s *scope) Deadline() (time.Time, bool) {
	s.seen()
	return s.base.Deadline()
}

func (s *scope) Value(key any) any { return s.standard().Value(key) }

func (s *scope) Err() error {
	s.seen()
	ended := s.ended.Load() // before std: end cancels one that it has found
	std := s.std.Load()
	if ended {
		if std != nil && std.Err() == nil { // end is about to cancel it, and [context.Cause] asks it for the cause
			s.mu.Lock()
			defer s.mu.Unlock()
		}
		return s.err
	}
	if std != nil {
		return std.Err()
	}
	if s.base.Err() == nil {
		return nil
	}
	// What Err has returned once must hold, also for a standard context made later.
	s.mu.Lock()
	if s.std.Load() == nil { // one that was made meanwhile may not know yet, and is asked in place of the base
		s.end(nil)
	}
	s.mu.Unlock()
	return s.Err()
}

// Cause is as [context.Cause], without a need for the standard context.
func (s *scope) Cause() error {
	if s.Err() == nil {
		return nil
	}
	if s.ended.Load() {
		return s.cause
	}
	return context.Cause(s.std.Load())
}

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (s *scope) String() string {
	s.seen()
	if std, ok := s.base.(*standardContext); ok {
		return fmt.Sprintf("%v.Task", std.Context)
	}
	if named, ok := s.base.(fmt.Stringer); ok {
		return named.String() + ".Task"
	}
	return reflect.TypeOf(s.base).String() + ".Task"
}
