package engine

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Source holds the tasks that a running task has handed to its own engine, until
// they start. They stand beside the queue, not in it: the task that will wait for
// them has its place under the limit to give to them, so they never have to
// wait for what is queued.
//
// The task that waits gives its permit to a worker which serves the source,
// oldest task first. Others that are free take from the oldest source listed,
// whose tasks are likely to be the largest; work stealing does the same (Blumofe
// and Leiserson, "Scheduling multithreaded computations by work stealing", 1999).
// So each permit goes down into what has begun before it begins something else, and
// no more tasks wait at once than there are permits, times how deep they lie.
type Source[T any] struct {
	open   atomic.Int64 // tasks that nobody has claimed; changed under mu
	listed atomic.Bool  // in Engine.sources; changed under Engine.mu

	// Under Engine.mu.
	lender  *Absence   // who waits for all tasks, and has lent its permit
	crowded []*Absence // who waits until few are open

	mu    sync.Mutex // may be taken under Engine.mu, never the other way round
	tasks []T        // those from next on are open
	next  int
	few   [2]T // where tasks begin: most tasks that hand some on do so with two
}

// add puts task behind the others.
func (s *Source[T]) add(task T) {
	s.mu.Lock()
	if s.tasks == nil {
		s.tasks = s.few[:0]
	}
	if s.next > 0 && s.next == len(s.tasks) {
		s.tasks, s.next = s.tasks[:0], 0
	} else if s.next >= 32 && s.next > len(s.tasks)/2 && len(s.tasks) == cap(s.tasks) {
		n := copy(s.tasks, s.tasks[s.next:])
		clear(s.tasks[n:])
		s.tasks, s.next = s.tasks[:n], 0
	}
	s.tasks = append(s.tasks, task)
	s.open.Store(int64(len(s.tasks) - s.next))
	s.mu.Unlock()
}

// claim takes the oldest task.
func (s *Source[T]) claim() (task T, ok bool) {
	if s.open.Load() == 0 {
		return task, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == len(s.tasks) {
		return task, false
	}
	var none T
	task, s.tasks[s.next] = s.tasks[s.next], none
	s.next++
	s.open.Store(int64(len(s.tasks) - s.next))
	return task, true
}

// drop takes all open tasks.
func (s *Source[T]) drop() (dropped []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dropped = slices.Clone(s.tasks[s.next:])
	clear(s.tasks)
	s.tasks, s.next = s.tasks[:0], 0
	s.open.Store(0)
	return dropped
}

// Delegate hands over a task of a task: one that runs on this engine, and that
// will wait for what it puts into s. It returns the tasks, most likely none, that no
// worker will ever come to, since the engine hands back what has not started, or
// has ended: which only a goroutine that is no task can see.
func (e *Engine[T]) Delegate(s *Source[T], task T) (refused []T) {
	if e.abandoned.Load() {
		return []T{task}
	}
	if s.listed.Load() {
		e.delegated.Add(1)
		s.add(task)
		if s.listed.Load() { // a listed source has not been seen empty: the engine still runs
			if e.permits.wakeable() {
				e.stir()
			}
			return nil
		}
		e.mu.Lock()
		if e.abandoned.Load() {
			refused = s.drop()
			e.delegated.Add(-uint64(len(refused)))
		}
		e.list(s)
		e.unlock()
		return refused
	}
	e.mu.Lock()
	defer e.unlock()
	if e.abandoned.Load() {
		return []T{task}
	}
	e.delegated.Add(1)
	s.add(task)
	e.list(s)
	return nil
}

// list makes the open tasks of s be seen.
func (e *Engine[T]) list(s *Source[T]) {
	if s.open.Load() == 0 || s.listed.Load() {
		return
	}
	e.prune()
	s.listed.Store(true)
	e.sources = append(e.sources, s)
}

// TryDelegate is [Engine.Delegate] that hands over only what finds room: in s, as
// long as fewer are open there than the queue has places, or on a worker that
// is free.
func (e *Engine[T]) TryDelegate(s *Source[T], task T) bool {
	for {
		e.mu.Lock()
		switch {
		case e.abandoned.Load():
			e.mu.Unlock()
			return false
		case s.open.Load() < int64(e.queue.capacity):
			e.delegated.Add(1)
			s.add(task)
			e.list(s)
			e.unlock()
			return true
		case len(e.returning) == 0 && e.permits.tryEnter():
			e.delegated.Add(1)
			e.assign(task)
			e.unlock()
			return true
		}
		// As in TrySubmit, a worker that is between two tasks settles first.
		settled := !e.permits.searching() && !e.between()
		e.mu.Unlock()
		if settled {
			return false
		}
		runtime.Gosched()
	}
}

// Drop takes the open tasks of s back, never to be run, and returns their number.
func (e *Engine[T]) Drop(s *Source[T]) int {
	e.mu.Lock()
	n := len(s.drop())
	e.handedBack += uint64(n)
	e.eased(s)
	e.unlock()
	return n
}

// Overfull reports whether more is open in s than the queue has places.
func (e *Engine[T]) Overfull(s *Source[T]) bool {
	return s.open.Load() > int64(e.queue.capacity)
}

// eased recalls those who wait for room in s. They have it when half of the places
// are free: who came back for each single one would have to wait as often.
func (e *Engine[T]) eased(s *Source[T]) {
	if len(s.crowded) == 0 || s.open.Load() > int64(e.queue.capacity/2) {
		return
	}
	for _, a := range s.crowded {
		e.recall(a)
	}
	s.crowded = nil
}

// claim takes a task of the oldest source that has one.
func (e *Engine[T]) claim() (task T, ok bool) {
	for e.delegating() {
		s := e.sources[0]
		if task, ok = s.claim(); ok {
			e.eased(s)
			return task, true
		}
	}
	return task, false
}

// delegating reports whether a source has open tasks: then the first one has.
func (e *Engine[T]) delegating() bool {
	for len(e.sources) > 0 {
		if !e.unlist(e.sources[0]) {
			return true
		}
		e.sources[0] = nil
		e.sources = e.sources[1:]
	}
	e.sources = nil
	return false
}

// prune takes the youngest sources off the list, as far as they have no open tasks.
// As those in use lie upon each other like the tasks that wait for them, few
// are left that have none.
func (e *Engine[T]) prune() {
	for last := len(e.sources) - 1; last >= 0 && e.unlist(e.sources[last]); last-- {
		e.sources[last] = nil
		e.sources = e.sources[:last]
	}
}

// unlist reports whether s may go from the list. Whoever adds a task looks at listed
// after it: either that task is seen here, or it lists the source again.
func (e *Engine[T]) unlist(s *Source[T]) bool {
	if s.open.Load() > 0 {
		return false
	}
	s.listed.Store(false)
	if s.open.Load() == 0 {
		return true
	}
	s.listed.Store(true)
	return false
}
