// Package inside has what the packages of this module share apart from their exported names.
package inside

import "context"

// Refusals is a context that learns of tasks that never run. It must be the context that a group was made
// from, not a parent of that context. The group calls Refused for each task given to Go that its pool refuses
// or hands back. It also does so, with a nil why, for each task that a worker takes after the group was
// cancelled. The group calls Refused before the task counts as ended, and instead of recording a failure. The
// call comes from the caller of Go or Shutdown, or from the worker. No lock of the engine is held: Refused
// may take locks under which Stay.Wake is called.
type Refusals interface {
	context.Context
	Refused(mark Mark, why error)
}

// Mark prevents types outside this module from being a [Refusals] by chance.
type Mark struct{}

// TaskKey is the key under which the context of a task holds its [Task].
type TaskKey struct{}

// Task is a running task.
type Task interface {
	// Stay returns a Stay, for one wait of the task for something that tasks of a *weir.Group bring about.
	// Meanwhile these tasks may have its place, and what the task of another such group waits for, which feeds
	// them; feeder may be nil. Stay returns nil if the task is over.
	Stay(group, feeder any) Stay
}

// Stay is one wait of a task.
type Stay interface {
	// Wait blocks until Wake is called or done is closed. If Wake was called before, it returns at once.
	Wait(done <-chan struct{})

	// Wake lets the task go on. If the task's place is in use, the task gets the place of by, the task that
	// calls Wake, provided both are of the same pool; then Wake returns true. In that case by must end
	// without another call of a function outside this module. Wake takes the engine's lock, and does not
	// block.
	Wake(by Task) bool
}
