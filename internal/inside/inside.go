// Package inside is what the packages of this module share beyond exported names.
package inside

import "context"

// Refusals is a context that wants to hear of tasks which never run. A group made from it,
// not from one that derives from it, calls Refused for each task given to Go that its pool
// refuses or hands back, before the task counts as ended. The call comes from whoever called
// Go or Shutdown, and never under a lock of the engine: Refused may take locks under which
// Absence.Wake is called.
type Refusals interface {
	context.Context
	Refused(Mark)
}

// Mark keeps types outside this module from being a [Refusals] by chance.
type Mark struct{}

// TaskKey is the key under which the context of a task holds its [Task].
type TaskKey struct{}

// Task is a task that runs.
type Task interface {
	// Aside returns a way for the task to wait outside of its place, once; nil if the
	// task is over.
	Aside() Absence
}

// Absence is one wait of a task that gives its place up meanwhile.
type Absence interface {
	// Wait blocks until Wake is called or done is closed, and then until the task has a
	// place again. If Wake was called before, it returns at once.
	Wait(done <-chan struct{})

	// Wake lets the task go on as soon as there is a place, before any queued task, but
	// after tasks that lie deeper or were woken before it. A place that the caller gives up
	// afterwards goes to no queued task. It takes the engine's lock, and does not wait.
	Wake()
}
