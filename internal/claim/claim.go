// Package claim decides which goroutine has a task, where several want it: a worker in the task's turn, a worker out of turn because
// another task waits for it, and a caller that gives the task up.
package claim

import "sync/atomic"

// State says how far a task has come. The zero State is that of a task that is queued. The task starts at most once,
// and is over once. The goroutine that makes a change learns that from the result.
type State struct{ word atomic.Uint32 }

const (
	begun     uint32 = 1 << iota // a worker runs the task
	over                         // the outcome is there, or no caller wants it any more
	outOfTurn                    // the task was claimed, and its job in the queue is void
)

// Claim takes a queued task out of turn, for Begin.
func (s *State) Claim() bool { return s.word.CompareAndSwap(0, outOfTurn) }

// Begin reports whether a worker that has taken the task may run it. A claimed task must be out of
// turn, any other one in turn, and neither may have begun or be over.
func (s *State) Begin(claimed bool) bool {
	if claimed {
		return s.word.CompareAndSwap(outOfTurn, outOfTurn|begun)
	}
	return s.word.CompareAndSwap(0, begun)
}

// GiveUp ends a queued task.
func (s *State) GiveUp() bool { return s.word.CompareAndSwap(0, over) }

// End ends the task. It reports false if that is over already.
func (s *State) End() bool { return s.word.Or(over)&over == 0 }

// Over reports whether the task has ended.
func (s *State) Over() bool { return s.word.Load()&over != 0 }

// Queued reports whether the task may still be claimed, begun in its turn, or given up.
func (s *State) Queued() bool { return s.word.Load() == 0 }

// Running reports whether the task has begun and not ended.
func (s *State) Running() bool { return s.word.Load()&(begun|over) == begun }

// Void reports whether the job in the queue is void.
func (s *State) Void() bool { return s.word.Load()&outOfTurn != 0 }
