package engine

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Source holds the tasks that a running task has handed over to be waited for, until they
// start.
//
// Those for its own engine stand next to the queue, not in it: the task that will wait for
// them has its place to lend to them, so they never have to wait for what is queued.
// Workers that are free take from the oldest source listed,
// whose tasks are likely to be the largest; work stealing does the same (Blumofe
// and Leiserson, "Scheduling multithreaded computations by work stealing", 1999).
//
// Those for another engine have a ticket each in the queue of that: who takes it takes the oldest
// task of the source. If tasks have started out of turn, it finds none.
type Source[T any] struct {
	open   atomic.Int64 // tasks that nobody has claimed; changed under mu
	listed atomic.Bool  // in Engine.sources; changed under Engine.mu
	queued bool         // its tasks have tickets

	// Under Engine.mu.
	want    Want[T]
	within  *Source[T]       // that of the task which waits for this one
	busy    chain[Source[T]] // sources within this one that have work for those who wait for it
	below   link[Source[T]]  // in within.busy
	crowded []*Absence[T]    // who waits until few are open
	lender  *Absence[T]      // of the last that waited for it

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
			if s.want.waits.Load() > 0 { // who begins to wait looks at open afterwards
				e.mu.Lock()
				e.reoffer(s)
				e.unlock()
			}
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
		e.reoffer(s)
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
	e.reoffer(s)
	return nil
}

// reoffer offers what has come into s while tasks wait for it. In a pause, who waits for all of them must know that
// they are held.
func (e *Engine[T]) reoffer(s *Source[T]) {
	if s.want.waits.Load() == 0 || s.open.Load() == 0 {
		return
	}
	e.offer(&s.want)
	if e.paused {
		e.recallLender(s)
	}
}

// Init prepares s for use; tickets says whether its tasks have tickets in the queue.
func (s *Source[T]) Init(tickets bool) { s.queued, s.want.source = tickets, s }

// Want returns what tasks wait for that wait for those of s.
func (s *Source[T]) Want() *Want[T] { return &s.want }

// Put adds a task for which a ticket is about to be submitted.
func (e *Engine[T]) Put(s *Source[T], task T) {
	s.add(task)
	if s.want.waits.Load() > 0 {
		e.mu.Lock()
		e.reoffer(s)
		e.unlock()
	}
}

// Redeem takes the task that match selects: the one that a ticket in the queue stands for. It
// reports false if that has started out of turn, or was dropped.
func (s *Source[T]) Redeem(match func(T) bool) (task T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(match)
	if i < 0 {
		return task, false
	}
	task = s.tasks[i]
	if i > s.next {
		s.tasks = slices.Delete(s.tasks, i, i+1)
	} else {
		var none T
		s.tasks[i] = none
		s.next++
	}
	s.open.Store(int64(len(s.tasks) - s.next))
	return task, true
}

// Holds reports whether Redeem would find the task.
func (s *Source[T]) Holds(match func(T) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(match) >= 0
}

func (s *Source[T]) find(match func(T) bool) int {
	for i := s.next; i < len(s.tasks); i++ {
		if match(s.tasks[i]) {
			return i
		}
	}
	return -1
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
			e.reoffer(s)
			e.unlock()
			return true
		case len(e.returning) == 0 && e.permits.tryEnter():
			e.delegated.Add(1)
			e.assign(task, s)
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
	if s.queued {
		e.queue.dead.Add(int64(n))
	} else {
		e.dry(s)
	}
	for _, a := range s.crowded {
		e.recall(a, nil)
	}
	s.crowded = nil
	e.unlock()
	return n
}

// Overfull reports whether more is open in s than the queue has places.
func (e *Engine[T]) Overfull(s *Source[T]) bool {
	return s.open.Load() > int64(e.queue.capacity)
}

// eased recalls those who wait for room in s, if there is enough: half of the places,
// as who came back for each single one would have to wait as often. A task whose place is lent goes
// on when a place is free, or when a task of s is over.
func (e *Engine[T]) eased(s *Source[T]) {
	if len(s.crowded) == 0 || s.open.Load() > int64(e.queue.capacity/2) {
		return
	}
	waiting := s.crowded[:0]
	for _, a := range s.crowded {
		if w := a.worker; w != nil && a.current() && w.place.above != nil {
			waiting = append(waiting, a)
			if !a.lined {
				a.lined = true
				e.returning = append(e.returning, a)
			}
		} else {
			e.recall(a, nil)
		}
	}
	clear(s.crowded[len(waiting):])
	s.crowded = waiting
}

// ends ends waits for room in the source of the task of w, which is over, if there is enough. That is
// when a task whose place is lent goes on: if it did as soon as a task which it has handed over begins,
// it would need one more place for each.
func (e *Engine[T]) ends(w *worker[T]) {
	if w.place == nil || w.place.from == nil {
		return
	}
	s := w.place.from
	if len(s.crowded) == 0 || s.open.Load() > int64(e.queue.capacity/2) {
		return
	}
	for _, a := range s.crowded {
		e.recall(a, &w.Worker)
	}
	s.crowded = nil
}

// claim takes a task of the oldest source that has one.
func (e *Engine[T]) claim() (task T, from *Source[T], ok bool) {
	for e.delegating() {
		s := e.sources[0]
		if task, ok = s.claim(); ok {
			e.claimed(s)
			e.eased(s)
			return task, s, true
		}
	}
	return task, nil, false
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

// list makes the open tasks of s be seen.
func (e *Engine[T]) list(s *Source[T]) {
	if s.open.Load() == 0 || s.listed.Load() {
		return
	}
	e.prune()
	s.listed.Store(true)
	e.sources = append(e.sources, s)
}
