package weir

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned for a task submitted to a pool after Close or
	// Shutdown has begun. A [Group] whose pool is closed under it reports
	// it for every task that did not start.
	ErrClosed = errors.New("weir: pool is closed")

	// ErrFull is returned for a task that would have to wait for room when it
	// must not: by TrySubmit and TryInvoke, or when as many submitters wait
	// as [MaxWaiting] lets.
	ErrFull = errors.New("weir: pool is full")

	// ErrGoexit is what a [Group] reports for a task that ended its
	// goroutine with [runtime.Goexit], as t.FailNow does.
	ErrGoexit = errors.New("weir: task called runtime.Goexit")
)

// TaskError is the error of one task of a [Group].
type TaskError struct {
	// Index says which task: tasks are numbered from 0 in the order in which
	// they were given to the group since its last Wait.
	Index int
	// Err is what the task returned; or a [*Panic], [ErrGoexit], [ErrClosed] or [ErrFull].
	Err error
}

// Error puts the number of the task before its error.
func (e *TaskError) Error() string { return fmt.Sprintf("task %d: %v", e.Index, e.Err) }

// Unwrap returns the task's own error.
func (e *TaskError) Unwrap() error { return e.Err }

// must panics with what must hold, unless it does.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weir: %s, got %v", rule, got))
	}
}

func mustLimit(n int) { must(n >= 1, "limit must be at least 1", n) }

func mustTask(isNil bool) { must(!isNil, "task must be a function", "nil") }

func mustContext(isNil bool) { must(!isNil, "context must not be nil", "nil") }
