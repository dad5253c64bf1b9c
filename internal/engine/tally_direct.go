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
// Switch has not been called, and the set is not closed. DirectQueue.End must follow, or Adopt. A set may begin with
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

// EndSwitched is the last part of the end of a direct task with DirectSwitched.
func (t *Tally) EndSwitched() (tell bool) { return t.left(t.inside.Add(-oneDirect)) }

// Switch ends the beginning of direct tasks, and returns how many there are. It must be called only once.
func (t *Tally) Switch() int { return int(t.inside.Or(switched) % oneWaiting / oneDirect) }

// Adopt makes of a direct task a queued one that a worker has begun. If entered, Leave must follow, else End.
func (t *Tally) Adopt(entered bool) {
	change := int64(-oneDirect)
	if entered {
		change++
	}
	t.inside.Add(change)
}

// joins begins a task as a direct one, or counts it as one that waits; DirectFull says that it could do neither, and may not wait.
func (t *Tally) joins(limit int, mayWait bool) DirectJoin {
	for {
		n := t.inside.Load()
		change, result := int64(oneWaiting), DirectWaits
		switch {
		case n&(closed|switched) != 0, n/oneWaiting == mostWaiting:
			return DirectRefused
		case n/oneDirect < int64(min(limit, MostDirect)):
			change, result = oneDirect, DirectBegins
		case !mayWait:
			return DirectFull
		}
		if t.inside.CompareAndSwap(n, n+change) {
			return result
		}
	}
}

// IsWaitedFor reports whether a task waits for the end of a direct one.
func (t *Tally) IsWaitedFor() bool { return t.inside.Load()&^(closed|switched) >= oneWaiting }

// DirectQueue holds the tasks of a Tally that wait for the end of a direct task, in order. The goroutine of the
// task that ends then runs the first of them. Behind those that are accepted stand those whose submitters wait for
// room.
//
// Invariant: when mu is free, the Tally counts as many waiting tasks as there are. While it counts any, and
// Switch has not been called, as many direct tasks run as may, or more. None of them ends without a look under mu.
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
	result := t.joins(int(limit()), mayBlock || !full) // Begin follows a change of the limit
	switch {
	case result != DirectWaits:
		return result, nil
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

// DirectEnd says what follows the end of a direct task.
type DirectEnd uint8

const (
	DirectOver     DirectEnd = iota // nothing
	DirectNext                      // a task that has waited begins in its place
	DirectSwitched                  // Switch has counted the task: EndSwitched must follow, and the set is not over before
)

// End counts a direct task out, and tells whether the waiter must look again. If a task waits, and no more direct
// tasks run than limit returns, it returns the first one that waits, and DirectNext.
func (q *DirectQueue) End(t *Tally, limit func() int64) (next Task, tell bool, end DirectEnd) {
	t.ended.Add(1)
	for {
		n := t.inside.Load()
		switch {
		case n&switched != 0:
			return Task{}, false, DirectSwitched
		case n&^closed >= oneWaiting:
			if next, tell, end, ok := q.passOn(t, limit); ok {
				return next, tell, end
			}
		case t.inside.CompareAndSwap(n, n-oneDirect):
			return Task{}, t.left(n - oneDirect), DirectOver
		}
	}
}

// passOn is End where a task waits. It reports false if End must look again. The limit is what it is under the
// lock, as Begin follows a change of it: otherwise a task could go, and none begin, by a limit that has risen.
func (q *DirectQueue) passOn(t *Tally, limit func() int64) (next Task, tell bool, end DirectEnd, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := t.inside.Load()
	change := int64(-oneWaiting)
	switch {
	case n&switched != 0 || n&^closed < oneWaiting:
		return Task{}, false, DirectOver, false
	case n%oneWaiting/oneDirect > limit():
		change = -oneDirect
	}
	if !t.inside.CompareAndSwap(n, n+change) {
		return Task{}, false, DirectOver, false
	}
	if change == -oneDirect {
		return Task{}, t.left(n + change), DirectOver, true
	}
	return q.tasks.pop(), false, DirectNext, true
}

// Begin returns the first task, which begins as a direct one, if fewer than limit direct tasks run.
func (q *DirectQueue) Begin(t *Tally, limit int) (task Task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		n := t.inside.Load()
		if n&switched != 0 || n&^closed < oneWaiting || n%oneWaiting/oneDirect >= int64(min(limit, MostDirect)) {
			return Task{}, false
		}
		if t.inside.CompareAndSwap(n, n+oneDirect-oneWaiting) {
			return q.tasks.pop(), true
		}
	}
}

// pop removes the first task. The submitter that has waited for longest has room then.
func (d *directTasks) pop() Task {
	if s := d.submitters.First().Of(); s != nil {
		d.submitters.Remove(&s.link)
		d.accepted = append(d.accepted, s.task)
		s.turn <- nil
	}
	task := d.accepted[0]
	d.accepted = slices.Delete(d.accepted, 0, 1) // they are few
	return task
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
