package par

import (
	"context"
	"errors"

	"github.com/64ed045f/weir"
)

// errLeft is the cause with which a loop or stream cancels its tasks when its caller leaves it early.
var errLeft = errors.New("par: the caller has left")

// pulled runs each item of a sequence as a task of its own. The caller's goroutine runs the sequence.
func pulled[T any](ctx context.Context, o *options, from pull[T], task func(T, error) func(context.Context) error) error {
	opts := []weir.GroupOption{weir.Limit(o.limit)}
	if o.keepGoing {
		opts = append(opts, weir.KeepGoing())
	}
	g := o.group(ctx, opts...)
	members := g.Context()
	ended := false
	defer func() {
		if ended {
			return
		}
		// The sequence panicked, or called runtime.Goexit.
		first := members.Err() == nil
		g.Cancel(errLeft)
		if first {
			settle(g)
		} else {
			_ = g.Wait() // a call may have panicked before
		}
	}()
	from(members, func(item T, err error) bool {
		g.Go(task(item, err))
		return members.Err() == nil
	})
	ended = true
	return unmarked(g.Wait())
}

// failed returns the task for an error that the source gave instead of an item.
func failed(err error) func(context.Context) error {
	return func(context.Context) error { return sourceError{err} }
}

// sourceError marks an error of the source, which is reported as it is, without the index that a group adds.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// unmarked returns the error of a group, with the errors of the source restored. It changes joined errors in
// place: only a join that the group made can hold a marked error.
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

// original returns the error of the source that err wraps, or nil if err wraps none.
func original(err error) error {
	if failure, ok := err.(*weir.TaskError); ok { //nolint:errorlint // not what others have wrapped
		if marked, ok := failure.Err.(sourceError); ok { //nolint:errorlint // not what others have wrapped
			return marked.error
		}
	}
	return nil
}
