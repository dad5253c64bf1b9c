package history_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/64ed045f/weir"
)

// state is what the sequential pool has. Tasks are runes, so that states can be compared.
type state struct {
	limit, running int
	queue          string // tasks accepted and not started
	handed         string // of a queue of length 0: tasks that have a worker and do not know it yet
	doomed         string // tasks of groups that a worker has and will not start
	back           string // tasks handed back
	paused, closed bool
}

// call is an operation: what a client asked for, or a moment in the life of a task.
type call struct {
	action action
	n      int // a task, or a limit
	after  int // of handBack: the task before it, or -1
}

// answer is what a call returned to its client.
type answer struct {
	err    error
	others bool // a submitter may have been waiting for room meanwhile
	limit  int  // of Stats
}

var errDone = errors.New("the context of a submission is done")

// spec is the sequential pool: the limit at first, the length of the queue, and whether
// Submit refuses where it would wait.
func spec(limit, queue int, refusing bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{limit: limit} },
		Step: func(from, input, output any) (bool, any) {
			s := from.(state)
			ok := s.step(input.(call), output.(answer), queue, refusing)
			return ok, s
		},
		DescribeOperation: func(input, output any) string { return describe(input.(call), output.(answer)) },
		DescribeState:     func(at any) string { return at.(state).String() },
	}
}

// step changes s as the call does, and reports whether the pool may do that, and answer so.
func (s *state) step(c call, a answer, queue int, refusing bool) bool {
	switch c.action {
	case try, tryGo:
		return s.hand(c.n, a, queue)
	case submit:
		return (refusing || !errors.Is(a.err, weir.ErrFull)) && s.hand(c.n, a, queue)
	case submitDone:
		return errors.Is(a.err, errDone) || s.closed && errors.Is(a.err, weir.ErrClosed)
	case submitSoon:
		return errors.Is(a.err, errDone) || (refusing || !errors.Is(a.err, weir.ErrFull)) && s.hand(c.n, a, queue)
	case resize:
		s.limit = c.n
	case pause:
		s.paused = !s.closed
	case resume:
		s.paused = false
	case stats:
		return a.limit == s.limit
	case closing:
		s.closed, s.paused = true, false
	case start:
		return s.start(c.n, queue)
	case finish:
		s.running--
		return s.running >= 0
	case doom:
		return s.doom(c.n, queue)
	case giveUp:
		return s.giveUp(c.n)
	case handBack:
		before := c.after < 0 || strings.Contains(s.back, name(c.after))
		s.back += name(c.n)
		return s.closed && before && s.take(c.n)
	case drained:
		return s.closed && s.queue == ""
	default:
		panic("not an operation of the specification: " + c.action.String())
	}
	return true
}

// hand hands a task over.
func (s *state) hand(task int, a answer, queue int) bool {
	free := !s.paused && s.running < s.limit
	room := len(s.queue) < queue
	if queue == 0 {
		room = free
	}
	switch {
	case s.closed:
		return errors.Is(a.err, weir.ErrClosed)
	case a.err != nil:
		return errors.Is(a.err, weir.ErrFull) && (!room && !free || a.others)
	case !room:
		return false // a free worker takes the oldest first
	case queue == 0:
		s.running++
		s.handed += name(task)
	default:
		s.queue += name(task)
	}
	return true
}

func (s *state) start(task, queue int) bool {
	if queue == 0 {
		return cut(&s.handed, task)
	}
	if s.paused || s.running >= s.limit || !s.take(task) {
		return false
	}
	s.running++
	return true
}

// doom takes a task of a group off the queue that will not start, as the group is cancelled when the time of Shutdown is over: Shutdown does, or a worker
// before it, which notices the cancellation later.
func (s *state) doom(task, queue int) bool {
	switch {
	case queue == 0:
		s.doomed += name(task)
		return cut(&s.handed, task)
	case s.closed:
		s.back += name(task)
		return s.take(task)
	default:
		s.doomed += name(task)
		return s.start(task, queue)
	}
}

// giveUp follows doom.
func (s *state) giveUp(task int) bool {
	if !cut(&s.doomed, task) {
		return strings.Contains(s.back, name(task))
	}
	s.running--
	s.back += name(task)
	return s.closed
}

// cut takes the task out of those.
func cut(tasks *string, task int) bool {
	before, after, ok := strings.Cut(*tasks, name(task))
	*tasks = before + after
	return ok
}

// take takes the task off the queue, if it is the oldest.
func (s *state) take(task int) (ok bool) {
	s.queue, ok = strings.CutPrefix(s.queue, name(task))
	return ok
}

// name is one byte, so that the length of a queue is its number of tasks; in a large round it may be more.
func name(task int) string {
	if task < len(names) {
		return names[task : task+1]
	}
	return fmt.Sprint("#", task)
}

const names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (s state) String() string {
	text := fmt.Sprintf("limit %d, running %d, queue [%s]", s.limit, s.running, s.queue)
	if s.handed != "" {
		text += " handed [" + s.handed + "]"
	}
	if s.paused {
		text += ", paused"
	}
	if s.closed {
		text += ", closed"
	}
	return text
}

func describe(c call, a answer) string {
	switch {
	case c.action.submits() && a.err != nil:
		return fmt.Sprintf("%v(%s): %v", c.action, name(c.n), a.err)
	case c.action.submits():
		return fmt.Sprintf("%v(%s): accepted", c.action, name(c.n))
	case c.action == resize:
		return fmt.Sprintf("Resize(%d)", c.n)
	case c.action == stats:
		return fmt.Sprintf("Stats: Limit %d", a.limit)
	case c.action == start, c.action == finish, c.action == handBack, c.action == doom, c.action == giveUp:
		return fmt.Sprintf("%v %s", c.action, name(c.n))
	case a.err != nil:
		return fmt.Sprintf("%v: %v", c.action, a.err)
	}
	return c.action.String()
}
