package par

import (
	"context"
	"errors"
	"slices"

	"github.com/64ed045f/weir"
)

// errLeft is the cause with which tasks are cancelled whose loop or stream was left.
var errLeft = errors.New("par: the caller has left")

// pulled makes a task of each item of a sequence. The caller of it runs the sequence.
func pulled[T any](ctx context.Context, o *options, from pull[T], task func(T, error) func(context.Context) error) error {
	opts := []weir.GroupOption{weir.Limit(o.limit)}
	if o.keepGoing {
		opts = append(opts, weir.KeepGoing())
	}
	g := o.group(ctx, opts...)
	ended := false
	defer func() {
		if !ended { // the sequence panicked, or called runtime.Goexit
			g.Cancel(errLeft)
			_ = g.Wait()
		}
	}()
	members := g.Context()
	from(members, func(item T, err error) bool {
		g.Go(task(item, err))
		return members.Err() == nil
	})
	ended = true
	return unmarked(g.Wait())
}

// failed is the task for an error that stands in the place of an item.
func failed(err error) func(context.Context) error {
	return func(context.Context) error { return sourceError{err} }
}

// sourceError marks an error that came from the source, and so tells already, as far as
// that can be told, what has failed.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// unmarked is what a group reports, but for errors of the source as they were.
func unmarked(err error) error {
	switch err := err.(type) { //nolint:errorlint // not what others have wrapped
	case *weir.TaskError:
		if marked, ok := err.Err.(sourceError); ok { //nolint:errorlint // as above
			return marked.error
		}
	case interface{ Unwrap() []error }:
		errs := err.Unwrap()
		for i, err := range errs {
			if was := unmarked(err); was != err { //nolint:errorlint // as above
				errs[i] = was
			}
		}
	}
	return err
}

// list grows without moving what it holds.
type list[T any] struct{ parts [][]T }

// add returns a new place.
func (l *list[T]) add() *T {
	last := len(l.parts) - 1
	if last < 0 || len(l.parts[last]) == cap(l.parts[last]) {
		size := 8
		if last >= 0 {
			size = 2 * len(l.parts[last])
		}
		l.parts = append(l.parts, make([]T, 0, size))
		last++
	}
	n := len(l.parts[last])
	l.parts[last] = l.parts[last][:n+1]
	return &l.parts[last][n]
}

func (l *list[T]) slice() []T { return slices.Concat(l.parts...) }
