// Package claim decides which goroutine gets a task that several want. It may be a worker in the task's turn,
// a worker out of turn because another task waits for it, or a caller that gives the task up.
package claim

import "sync/atomic"

// State says how far a task has come. The zero State means that the task is queued. The task starts at most
// once, and ends once. Each method that changes the State reports whether this call made the change.
type State struct{ word atomic.Uint32 }

const (
	begun     uint32 = 1 << iota // a worker runs the task
	over                         // the outcome is there, or no caller wants the task any more
	outOfTurn                    // the task was claimed, and its job in the queue is void
)

// Claim claims a queued task out of turn. A worker then calls Begin.
func (s *State) Claim() bool { return s.word.CompareAndSwap(0, outOfTurn) }

// Begin reports whether a worker that has taken the task may run it. claimed says that the worker has taken
// the task out of turn, after Claim. Begin fails if the task was claimed and the worker comes in turn, or if
// the task has begun or is over.
func (s *State) Begin(claimed bool) bool {
	if claimed {
		return s.word.CompareAndSwap(outOfTurn, outOfTurn|begun)
	}
	return s.word.CompareAndSwap(0, begun)
}

// GiveUp ends a queued task.
func (s *State) GiveUp() bool { return s.word.CompareAndSwap(0, over) }

// End ends the task. It returns false if the task has ended before.
func (s *State) End() bool { return s.word.Or(over)&over == 0 }

// Over reports whether the task has ended.
func (s *State) Over() bool { return s.word.Load()&over != 0 }

// Queued reports whether the task may still be claimed, begun in its turn, or given up.
func (s *State) Queued() bool { return s.word.Load() == 0 }

// Running reports whether the task has begun and not ended.
func (s *State) Running() bool { return s.word.Load()&(begun|over) == begun }

// Void reports whether the job in the queue is void.
func (s *State) Void() bool { return s.word.Load()&outOfTurn != 0 }
