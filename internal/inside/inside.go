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
