// Package inside is what the packages of this module share beyond exported names.
package inside

import "context"

// Refusals is a context that wants to learn of tasks which never run. A group made from it,
// not from one that derives from it, calls Refused for each task given to Go that its pool
// refuses or hands back, or that a worker comes to when the group is cancelled, before the task
// counts as ended, and in place of noting a failure; why is nil in the last case. The call comes from the caller of Go or Shutdown, or from the worker, and never
// under a lock of the engine: Refused may take locks under which Stay.Wake is called.
type Refusals interface {
	context.Context
	Refused(mark Mark, why error)
}

// Mark keeps types outside this module from being a [Refusals] by chance.
type Mark struct{}

// TaskKey is the key under which the context of a task holds its [Task].
type TaskKey struct{}

// Task is a task that runs.
type Task interface {
	// Stay returns a way for the task to wait for something that tasks of a *weir.Group bring
	// about, once; nil if the task is over. Meanwhile they may have its place.
	Stay(group any) Stay
}

// Stay is one wait of a task.
type Stay interface {
	// Wait blocks until Wake is called or done is closed. If Wake was called before, it returns
	// at once.
	Wait(done <-chan struct{})

	// Wake lets the task go on. Its place may be in use: then it has that of by, the task that
	// calls, if both are of the same pool, and Wake reports true. By must end then, without
	// a call of a function that is not of this module. Wake takes the engine's lock, and does not wait.
	Wake(by Task) bool
}
