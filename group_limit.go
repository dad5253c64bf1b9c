package weir

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/limit"
)

// groupLimit bounds how many of a group's tasks are queued or running. Each task takes a place, and gives it back
// at its end.
type groupLimit struct{ limit.Limit[stay] }

func newGroupLimit(n int) *groupLimit {
	l := new(groupLimit)
	l.Init(n)
	return l
}

// release gives n places back. A waiter that is a task may have the place of by in its pool.
func (l *groupLimit) release(n int, by *engine.Worker) {
	l.Release(n, func(w *limit.Waiter[stay]) { w.Value.wake(by) })
}

func (l *groupLimit) resize(n int) {
	l.Resize(n, func(w *limit.Waiter[stay]) { w.Value.wake(nil) })
}

// acquire waits for a place under the group's limit. It reports false if the batch was cancelled meanwhile.
func (g *Group) acquire(b *batch) bool {
	l := g.limit
	if l.TryAcquire() {
		return true
	}
	w := l.Waiter()
	s := &w.Value
	s.task = g.task()
	if s.waiter.Turn == nil {
		s.init(g.hostEngine())
	}
	if b.subtasks != nil {
		g.needEngine()
		defer s.with(g.pool, b.subtasks.Want())()
	}
	if l.Join(w) {
		l.Recycle(w)
		return true
	}
	done := b.done()
	for {
		woken := s.wait(done, nil, nil)
		s.arrive()
		switch {
		case woken && !l.Granted(w):
			// The waiter was to look again.
		case woken:
			l.Recycle(w)
			return l.stillWanted(b)
		default:
			return l.Withdraw(w) && l.stillWanted(b)
		}
	}
}

// stillWanted gives back a place that has come too late, and reports false then.
func (l *groupLimit) stillWanted(b *batch) bool {
	if quietly(b.cancelled) {
		l.release(1, nil)
		return false
	}
	return true
}
