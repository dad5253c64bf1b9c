package par

import (
	"context"
	"errors"

	"github.com/64ed045f/weir"
)

// errLeft is the cause with which a loop or stream that was left cancels its tasks.
var errLeft = errors.New("par: the caller has left")

// pulled makes a task of each item of a sequence. Its caller runs the sequence.
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

// failed is the task for an error that the source gave in the place of an item.
func failed(err error) func(context.Context) error {
	return func(context.Context) error { return sourceError{err} }
}

// sourceError marks an error of the source: it is reported as it is, without the index that
// a group puts before it.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// unmarked returns what a group has reported, with errors of the source as they were. Joined
// errors are changed in place: a marked one can only be in a join that the group made.
func unmarked(err error) error {
	if was := original(err); was != nil {
		return was
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs := joined.Unwrap()
		for i, err := range errs {
			if was := original(err); was != nil {
				errs[i] = was
			}
		}
	}
	return err
}

// original returns the error of the source that err reports, or nil if it reports none.
func original(err error) error {
	if failure, ok := err.(*weir.TaskError); ok { //nolint:errorlint // not what others have wrapped
		if marked, ok := failure.Err.(sourceError); ok { //nolint:errorlint // not what others have wrapped
			return marked.error
		}
	}
	return nil
}
