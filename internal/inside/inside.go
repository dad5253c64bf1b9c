// Package inside is what packages of this module ask of weir beyond its exported names.
package inside

import "context"

// Refusals is a context that wants to hear of tasks which never run. A group made
// from it, not from one that derives from it, calls Refused for each task that it has
// accepted, or waited with, and that its pool refuses or hands back, before the task
// counts as ended.
type Refusals interface {
	context.Context
	Refused(Mark)
}

// Mark keeps types outside this module from being a [Refusals] by chance.
type Mark struct{}

// TaskKey is what the context of a task gives a [Task] out for.
type TaskKey struct{}

// Task is a task that runs.
type Task interface {
	// Aside returns a way for the task to wait outside of its place, once; nil if the
	// task is over.
	Aside() Absence
}

// Absence is one wait of a task that gives its place up meanwhile.
type Absence interface {
	// Wait blocks until Wake is called, also before, or done is closed, and until the task
	// has a place again.
	Wait(done <-chan struct{})

	// Wake makes the task the next to get a place: a queued task cannot have the one
	// that the caller gives up afterwards. It does not block.
	Wake()
}
