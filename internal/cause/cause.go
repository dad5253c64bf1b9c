// Package cause tells the errors of a group's own tasks from the cause with which the group was cancelled
// from outside.
package cause

import (
	"context"
	"errors"
)

// Outer marks the cause of a parent context that is, or wraps, the error of a task of another group.
type Outer struct{ error }

// Unwrap returns the cause.
func (o *Outer) Unwrap() error { return o.error }

// Mark returns err as an Outer if err and the cause of parent have the same error of type E. Otherwise it
// returns err.
func Mark[E interface {
	error
	comparable
}](parent context.Context, err error) error {
	task, ok := errors.AsType[E](err)
	if !ok {
		return err
	}
	if above, ok := errors.AsType[E](context.Cause(parent)); ok && above == task {
		return &Outer{err}
	}
	return err
}
