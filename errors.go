package weir

import (
	"errors"
	"fmt"
	"iter"

	"github.com/64ed045f/weir/internal/cause"
)

var (
	// ErrClosed is returned for a task submitted to a pool after Close or
	// Shutdown has begun. A [Group] whose pool is closed under it reports
	// it for every task that did not start.
	ErrClosed = errors.New("weir: pool is closed")

	// ErrFull is returned for a task that would have to wait for room when it
	// must not: by TrySubmit and TryInvoke, or when as many submitters wait
	// as [MaxWaiting] allows.
	ErrFull = errors.New("weir: pool is full")

	// ErrExpired is the error of a task that was queued for longer than [ExpireAfter] allows, and did not start.
	ErrExpired = errors.New("weir: task was queued for too long")

	// ErrRecursive is returned by [Once.Do] within the task that it would wait for.
	ErrRecursive = errors.New("weir: call of Do would wait for the task that makes it")

	// ErrGoexit is what a [Group], a [Future] or a [Once] reports for a task that ended its
	// goroutine with [runtime.Goexit], as t.FailNow does.
	ErrGoexit = errors.New("weir: task called runtime.Goexit")
)

// ShutdownError is what Shutdown returns when its context ends before the tasks do.
type ShutdownError struct {
	// Running is how many tasks have begun and not ended.
	Running int
	// Cause is that of the context.
	Cause error
}

// Error says how many tasks still run, and why Shutdown does not wait for them.
func (e *ShutdownError) Error() string {
	switch e.Running {
	case 0:
		return fmt.Sprintf("weir: pool shut down before its workers have ended: %v", e.Cause)
	case 1:
		return fmt.Sprintf("weir: pool shut down while 1 task runs: %v", e.Cause)
	}
	return fmt.Sprintf("weir: pool shut down while %d tasks run: %v", e.Running, e.Cause)
}

// Unwrap returns the cause.
func (e *ShutdownError) Unwrap() error { return e.Cause }

// DroppedError is what the function of [OnError] is given for a task that did not start although its
// submission returned no error, as that of a timer.
type DroppedError struct {
	// Label is that of the context of a task of [Pool.Go], if it has one: see [Label].
	Label string
	// Arg is the argument that the function of a [FuncPool], [FuncContext] or [Stateful] was to be called with; or the func() that was given to
	// [Pool.Submit] or its like; or the func(context.Context) that was given to [Pool.After], [Pool.At] or [Pool.Every]. It is nil for a task of
	// Pool.Go.
	Arg any
	// Cause is that of the task's context; or [ErrExpired]; or [ErrClosed] if Shutdown has taken the task off the queue, or the timer was made on
	// a closed pool; or [ErrFull] if a timer is due and may not wait for room.
	Cause error
}

// Error says that the task did not start, and why.
func (e *DroppedError) Error() string {
	if e.Label == "" {
		return fmt.Sprintf("weir: task did not start: %v", e.Cause)
	}
	return fmt.Sprintf("weir: task %q did not start: %v", e.Label, e.Cause)
}

// Unwrap returns the cause.
func (e *DroppedError) Unwrap() error { return e.Cause }

// TimersError is what the function of [OnError] is given when a pool is closed while timers are pending.
type TimersError struct {
	// Dropped is how many tasks of [Pool.After] and [Pool.At] were not handed over, since they were not due or waited for
	// room, the pool's and its lanes'.
	Dropped int
}

// Error says how many tasks were dropped.
func (e *TimersError) Error() string {
	return fmt.Sprintf("weir: pool closed, timers dropped: %d", e.Dropped)
}

// OpenError says that an argument of a [Stateful] was accepted and not used, since the worker
// that took it could not open its value.
type OpenError struct {
	// Arg is the argument.
	Arg any
	// Err is what open returned, or [ErrGoexit]. A panic of open goes to [OnPanic] instead.
	Err error
	// Pool is the [Name] of the pool, if it has one.
	Pool string
}

// Error says what open returned, and for which pool.
func (e *OpenError) Error() string {
	pool := e.Pool
	if pool != "" {
		pool = " of pool " + pool
	}
	return fmt.Sprintf("weir: worker%s could not open its value: %v", pool, e.Err)
}

// Unwrap returns Err.
func (e *OpenError) Unwrap() error { return e.Err }

// TaskError is the error of one task of a [Group].
type TaskError struct {
	// Index says which task: tasks are numbered from 0 in the order in which
	// they were given to the group since its last Wait. A task that TryGo
	// refuses gives its number back, unless another was given meanwhile.
	// [Results] numbers the tasks that are given to it, apart from others.
	Index int
	// Err is what the task returned; or a [*Panic], [ErrGoexit], [ErrExpired], [ErrClosed] or [ErrFull].
	Err error
}

// Error puts the number of the task before its error.
func (e *TaskError) Error() string { return fmt.Sprintf("task %d: %v", e.Index, e.Err) }

// Failures returns an iterator over the errors of single tasks in err, in order: all that a group with
// [KeepGoing] has returned, or the one of a group without it. [errors.AsType] finds only the first. It leaves
// out the errors that subtasks returned to a failed task, which are in the Err of that task's error. It also
// leaves out the error of another group's task that has cancelled the context from which the group was made;
// errors.AsType finds that, too.
func Failures(err error) iter.Seq[*TaskError] {
	return func(yield func(*TaskError) bool) { eachFailure(err, yield) }
}

// eachFailure reports whether yield wants more.
func eachFailure(err error, yield func(*TaskError) bool) bool {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *cause.Outer:
	case *TaskError:
		return yield(e)
	case interface{ Unwrap() error }:
		return eachFailure(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if !eachFailure(err, yield) {
				return false
			}
		}
	}
	return true
}

// Unwrap returns the task's own error.
func (e *TaskError) Unwrap() error { return e.Err }
