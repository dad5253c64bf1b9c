package weir

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/feed"
	"github.com/64ed045f/weir/internal/race"
)

// Results collects what tasks of a [Group] return: Wait gives the values in the order in which the
// tasks were given, All as the tasks finish, Ordered in order but as soon as they are there, First
// only one.
//
// Each use ends with one of those four, and that ends the group's batch like [Group.Wait];
// afterwards both may be used again. Several Results may share a group, also with tasks that are
// given to [Group.Go].
//
// Go may be called by any number of goroutines at once, and by tasks of the group. Wait may be
// called by several at once, and returns the same to all. Apart from that the results of a batch
// are for one goroutine, which must not be that of a task of the group.
type Results[T any] struct {
	group *Group
	set   atomic.Pointer[resultSet[T]] // that tasks were last given to; nil when its results have been taken
	mu    sync.Mutex                   // held while a new set is stored
}

// NewResults returns Results that collect what tasks of g return.
func NewResults[T any](g *Group) *Results[T] {
	must(g != nil, "group must not be nil", "nil")
	g.mustBeMade()
	return &Results[T]{group: g}
}

// Go adds a task to the group. It blocks, and fails or drops the task, as
// [Group.Go] does.
//
// The call synchronizes before the start of the task. It allocates only storage
// for results, which doubles as it grows: some 50 bytes and the value for each.
func (r *Results[T]) Go(task func(ctx context.Context) (T, error)) {
	r.mustBeMade()
	mustTask(task != nil)
	if o := &r.group.options; o.retry != nil {
		task = retried(o.retry, o.keepGoing, r.group.retryRates(), task)
	}
	if race.Enabled {
		tag := race.Here()
		task = racedResult(r.group, tag, task)
		r.group.handRaced(tag, func() bool { r.give(task); return true })
		return
	}
	r.give(task)
}

func (r *Results[T]) give(task func(ctx context.Context) (T, error)) {
	b, number := r.group.countIn()
	s := r.of(b)
	index := int(s.given.Add(1) - 1)
	s.result(index).task = task
	r.group.add(b, number, listenerJob(&s.self, b, index))
}

// Wait blocks until every task of the group has finished, and returns or panics as
// [Group.Wait] does. Whatever the error is, Wait also returns one value for each
// task given to Go, in order: what the task returned, even if it failed; and the
// zero value for a task that panicked, called [runtime.Goexit], or never ran.
func (r *Results[T]) Wait() ([]T, error) {
	s := r.take(waitedFor)
	s.batch.wait(true, watchedCallers())
	r.forget(s)
	if p := s.batch.panicked(); p != nil {
		panic(p)
	}
	values := make([]T, s.given.Load())
	for i := range values {
		values[i] = s.result(i).value
	}
	return values, s.batch.err
}

func (r *Results[T]) mustBeMade() {
	must(r.group != nil, "results must be made by NewResults", "the zero value")
}

// of returns the set of a batch that cannot end meanwhile, so none is newer.
func (r *Results[T]) of(b *batch) *resultSet[T] {
	if s := r.set.Load(); s != nil && s.batch == b {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.set.Load()
	if s == nil || s.batch != b {
		s = newResultSet[T](b)
		r.set.Store(s)
	}
	return s
}

// take returns the set that is not yet taken; if there is none, an empty one.
func (r *Results[T]) take(how use) *resultSet[T] {
	r.mustBeMade()
	s := r.set.Load()
	if s == nil {
		empty := newResultSet[T](r.group.current()) // not under mu, as it asks the caller's context
		r.mu.Lock()
		if s = r.set.Load(); s == nil {
			s = empty
			r.set.Store(s)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	was := s.use
	if was == unused {
		s.use = how
	}
	r.mu.Unlock()
	must(was == unused || how == waitedFor && was == waitedFor, "results must be read by one of Wait, All, Ordered and First at a time", "another")
	return s
}

// forget drops a set whose batch has ended.
func (r *Results[T]) forget(s *resultSet[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set.Load() == s {
		r.set.Store(nil)
	}
}

// What a resultSet is used for.
type use uint8

const (
	unused use = iota
	waitedFor
	ranged
)

// resultSet is the results of one batch. Each has a place of its own, in chunks
// that double in size and never move, so that tasks write them without a lock.
type resultSet[T any] struct {
	self    listener // refers to the set itself
	batch   *batch
	use     use  // under Results.mu
	stay    stay // of the loop
	feed    feed.Feed[result[T]]
	growing sync.Mutex
	chunks  [32]atomic.Pointer[[]result[T]]

	_     [cacheLine]byte // workers read the above, submitters write the following
	given atomic.Int64
}

const (
	// firstChunk is the number of results in the first chunk, a power of 2.
	firstChunk = 8

	// A single line here, not two as in the engine: sets are many and small.
	cacheLine = 64
)

// result is the place for a task, and then for what it returns. It is as small as can be, as there may be millions.
type result[T any] struct {
	task  func(ctx context.Context) (T, error)
	value T
	fault *TaskError
	feed.Item[result[T]]
}

func itemOf[T any](m *result[T]) *feed.Item[result[T]] { return &m.Item }

// newResultSet returns an empty set for the results of b.
func newResultSet[T any](b *batch) *resultSet[T] {
	s := &resultSet[T]{batch: b}
	s.self = s
	s.feed.Init(&b.tally, itemOf[T])
	return s
}

// result returns the place of the result with that number.
func (s *resultSet[T]) result(index int) *result[T] {
	at := uint(index) + firstChunk
	n := bits.Len(at) - bits.Len(firstChunk)
	chunk := s.chunks[n].Load()
	if chunk == nil {
		chunk = s.grow(n)
	}
	return &(*chunk)[at-firstChunk<<n]
}

func (s *resultSet[T]) grow(n int) *[]result[T] {
	s.growing.Lock()
	defer s.growing.Unlock()
	chunk := s.chunks[n].Load()
	if chunk == nil {
		results := make([]result[T], firstChunk<<n)
		chunk = &results
		s.chunks[n].Store(chunk)
	}
	return chunk
}

// void implements listener.
func (s *resultSet[T]) void() bool { return false }

// refuse implements listener. Results have a batch, which does that.
func (s *resultSet[T]) refuse(error) bool { return true }

// run implements listener.
func (s *resultSet[T]) run(ctx context.Context, w *engine.Worker, number int) error {
	m := s.result(number)
	task := m.task
	m.task = nil // what it holds is not needed for as long as its value
	value, err := task(ctx)
	m.value = value
	if err == nil {
		s.finish(m, w)
	}
	return err
}

// failed implements listener.
func (s *resultSet[T]) failed(failure *TaskError) {
	m := s.result(failure.Index)
	m.fault = failure
	s.finish(m, nil)
}

// finish makes a result known. The loop of a task may have the place of by.
func (s *resultSet[T]) finish(m *result[T], by *engine.Worker) {
	if s.feed.Finish(m, &m.Item) {
		s.stay.wake(by)
	}
}
