// Package cause tells errors of a group from that with which the group was cancelled from outside.
package cause

import (
	"context"
	"errors"
)

// Outer is the cause of a parent context, which is the error of a task of another group, or has one.
type Outer struct{ error }

// Unwrap returns the cause.
func (o *Outer) Unwrap() error { return o.error }

// Mark returns err as an Outer if it has an error of type E that the cause of the parent has as well.
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
