package engine

import (
	"slices"
	"sync"

	"github.com/64ed045f/weir/internal/fifo"
)

const (
	// MostDirect is how many direct tasks a set may have.
	MostDirect = oneWaiting/oneDirect - 1
	// mostWaiting is how many tasks may be in a DirectQueue.
	mostWaiting = switched/oneWaiting - 1
)

// BeginDirect begins a task that has been counted in and was never queued as a direct task, on a goroutine of
// its own. It reports whether it may: fewer than limit direct tasks run, none waits for the end of another,
// Switch has not been called, and the set is not closed. EndDirect must follow, or Adopt. A set may begin with
// direct tasks, at most MostDirect at once, until Switch: from then on they are among the tasks that workers run.
func (t *Tally) BeginDirect(limit int) bool {
	for {
		n := t.inside.Load()
		if n&(closed|switched) != 0 || n/oneDirect >= int64(min(limit, MostDirect)) {
			return false
		}
		if t.inside.CompareAndSwap(n, n+oneDirect) {
			return true
		}
	}
}

// DirectEnd says what follows the end of a direct task.
type DirectEnd uint8

const (
	DirectOver     DirectEnd = iota // nothing
	DirectPasses                    // DirectQueue.Next must follow; if that returns nil, LeaveDirect
	DirectSwitched                  // Switch has counted the task: EndSwitched must follow, and the set is not over before
)

// EndDirect counts a direct task out, and tells whether the waiter must look again. With DirectPasses the
// task's place goes to a task that waits, as long as no more than limit direct tasks run.
func (t *Tally) EndDirect(limit int) (tell bool, end DirectEnd) {
	t.ended.Add(1)
	return t.LeaveDirect(limit)
}

// LeaveDirect is EndDirect for a task that has been counted out.
func (t *Tally) LeaveDirect(limit int) (tell bool, end DirectEnd) {
	for {
		n := t.inside.Load()
		switch {
		case n&switched != 0:
			return false, DirectSwitched
		case n&^closed >= oneWaiting && n%oneWaiting/oneDirect <= int64(limit):
			return false, DirectPasses
		}
		if t.inside.CompareAndSwap(n, n-oneDirect) {
			return t.left(n - oneDirect), DirectOver
		}
	}
}

// EndSwitched is the last part of EndDirect.
func (t *Tally) EndSwitched() (tell bool) { return t.left(t.inside.Add(-oneDirect)) }

// Switch ends the beginning of direct tasks, and returns how many there are. It must be called only once.
func (t *Tally) Switch() int { return int(t.inside.Or(switched) % oneWaiting / oneDirect) }

// Adopt makes of a direct task a queued one that a worker has begun: Leave must follow.
func (t *Tally) Adopt() { t.inside.Add(1 - oneDirect) }

// joins counts a task that would be a direct one, and does not find room, as one that waits. It reports begun
// if there is room meanwhile, and the task has begun as a direct one; ok is false if it can be neither.
func (t *Tally) joins(limit int) (begun, ok bool) {
	for {
		n := t.inside.Load()
		change := int64(oneWaiting)
		switch {
		case n&(closed|switched) != 0, n/oneWaiting == mostWaiting:
			return false, false
		case n/oneDirect < int64(min(limit, MostDirect)):
			change = oneDirect
		}
		if t.inside.CompareAndSwap(n, n+change) {
			return change == oneDirect, true
		}
	}
}

// leavesQueue makes a direct task of one that waits, if fewer than limit direct tasks run. It reports false otherwise, or after Switch.
// begun says that the task has the place of a direct task that has ended, and needs no other.
func (t *Tally) leavesQueue(begun bool, limit int) bool {
	for {
		n := t.inside.Load()
		change := int64(-oneWaiting)
		switch {
		case n&switched != 0:
			return false
		case begun:
		case n%oneWaiting/oneDirect >= int64(limit):
			return false
		default:
			change += oneDirect
		}
		if t.inside.CompareAndSwap(n, n+change) {
			return true
		}
	}
}

// DirectQueue holds the tasks of a Tally that wait for the end of a direct task, in order. The goroutine of the
// task that ends then runs the first of them. Behind those that are accepted stand those whose submitters wait for
// room.
//
// Invariant: when mu is free, the Tally counts as many waiting tasks as there are. While it counts any, and
// Switch has not been called, a direct task runs that has not looked: its goroutine takes the next one.
type DirectQueue struct {
	mu    sync.Mutex
	tasks *directTasks // nil if none has waited so far
}

type directTasks struct {
	accepted   []Task
	submitters fifo.List[DirectSubmitter]
}

// DirectSubmitter is a submitter that waits for room in a DirectQueue. It gets nil from Turn when the task is
// accepted, and what to wait for next after Switch. If it does not wait any longer, it calls Withdraw.
type DirectSubmitter struct {
	Turn <-chan *Standing
	turn chan<- *Standing
	task Task
	link fifo.Link[DirectSubmitter]
}

// DirectJoin is the result of Join.
type DirectJoin uint8

const (
	DirectRefused DirectJoin = iota // it cannot be a direct task
	DirectBegins                    // it has begun: there is a place meanwhile
	DirectWaits                     // it is accepted, and waits
	DirectBlocks                    // the submitter must wait for room
	DirectFull                      // there is no room, and the submitter may not wait
)

// Join adds a task for which BeginDirect has found no place. limit returns that of the
// direct tasks; room is how many tasks may be accepted that wait. The submitter is nil unless it must wait.
func (q *DirectQueue) Join(t *Tally, task Task, limit func() int64, room int, mayBlock bool) (DirectJoin, *DirectSubmitter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tasks == nil {
		q.tasks = &directTasks{accepted: make([]Task, 0, min(room+1, fewWaiting))}
	}
	all := q.tasks
	full := len(all.accepted) >= room || all.submitters.First() != nil
	if full && !mayBlock {
		return DirectFull, nil
	}
	switch begun, ok := t.joins(int(limit())); { // Begin follows a change of the limit
	case begun:
		return DirectBegins, nil
	case !ok:
		return DirectRefused, nil
	case !full:
		all.accepted = append(all.accepted, task)
		return DirectWaits, nil
	}
	turn := make(chan *Standing, 1)
	s := &DirectSubmitter{Turn: turn, turn: turn, task: task}
	all.submitters.Append(&s.link, s)
	return DirectBlocks, s
}

// fewWaiting is how many tasks may wait before the memory for them grows.
const fewWaiting = 4

// Next returns the first task, which begins as a direct one in the place of one that has ended. It reports false
// if none waits any more.
func (q *DirectQueue) Next(t *Tally) (Task, bool) { return q.take(t, true, 0) }

// Begin returns the first task, which begins as a direct one, if fewer than limit direct tasks run.
func (q *DirectQueue) Begin(t *Tally, limit int) (Task, bool) { return q.take(t, false, limit) }

// take is Next and Begin. The arguments are those of leavesQueue.
func (q *DirectQueue) take(t *Tally, begun bool, limit int) (task Task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.tasks
	if all == nil || len(all.accepted) == 0 && all.submitters.First() == nil || !t.leavesQueue(begun, limit) {
		return Task{}, false
	}
	if s := all.submitters.First().Of(); s != nil { // there is room for one more
		all.submitters.Remove(&s.link)
		all.accepted = append(all.accepted, s.task)
		s.turn <- nil
	}
	task = all.accepted[0]
	all.accepted = slices.Delete(all.accepted, 0, 1) // they are few
	return task, true
}

// Withdraw removes the task of a submitter that does not wait any longer. It reports false if there is a result
// in Turn.
func (q *DirectQueue) Withdraw(t *Tally, s *DirectSubmitter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.link.Of() == nil {
		return false
	}
	q.tasks.submitters.Remove(&s.link)
	t.inside.Add(-oneWaiting)
	return true
}

// Switch is [Tally.Switch]. It calls enter with the result, and then give for each task that waits, in order:
// these go on in another queue. For a task that is not accepted yet, give returns what its submitter waits for.
func (q *DirectQueue) Switch(t *Tally, enter func(direct int), give func(task Task, accepted bool) *Standing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	enter(t.Switch())
	all := q.tasks
	if all == nil {
		return
	}
	q.tasks = nil
	for _, task := range all.accepted {
		give(task, true)
		t.inside.Add(-oneWaiting)
	}
	for s := all.submitters.First().Of(); s != nil; s = all.submitters.First().Of() {
		standing := give(s.task, false)
		all.submitters.Remove(&s.link)
		t.inside.Add(-oneWaiting)
		s.turn <- standing
	}
}
