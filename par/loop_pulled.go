package par

import (
	"context"
	"errors"
	"runtime/pprof"

	"github.com/64ed045f/weir"
)

// errLeft is the cause with which a loop or stream cancels its tasks when its caller leaves it early.
var errLeft = errors.New("par: the caller has left")

// pulled runs each item of a sequence as a task of its own, which task returns. The caller's goroutine runs the
// sequence.
func pulled[T any](ctx context.Context, o *options, from pull[T], task func(T) func(context.Context) error) error {
	opts := []weir.GroupOption{weir.Limit(o.limit)}
	if o.keepGoing {
		opts = append(opts, weir.KeepGoing())
	}
	if o.pool == nil && hasLabels(ctx) {
		task = labelled(ctx, task)
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
			o.waitAfterPanic(g)
			return
		}
		value := recover()
		if value == nil { // it was runtime.Goexit
			_ = g.Wait()
			return
		}
		o.waitAfter(g, caught(value))
		panic(value)
	}()
	from(members, func(item T, err error) bool {
		run := task(item) // also for an error, which has its place among the results
		if err != nil {
			run = o.fails(g, err)
		}
		g.Go(run)
		return members.Err() == nil
	})
	ended = true
	return unmarked(g.Wait())
}

// hasLabels reports whether ctx has labels for profiles, and not those of [weir.Label], which a group gives its tasks.
func hasLabels(ctx context.Context) (has bool) {
	pprof.ForLabels(ctx, func(key, _ string) bool {
		has = key != "weir.task"
		return has
	})
	return has
}

// labelled returns task with the labels of ctx: the workers of a group do not take over those of their starter, as
// the goroutines of other loops do.
func labelled[T any](ctx context.Context, task func(T) func(context.Context) error) func(T) func(context.Context) error {
	return func(item T) func(context.Context) error {
		run := task(item)
		return func(members context.Context) error {
			pprof.SetGoroutineLabels(ctx)
			return run(members)
		}
	}
}

// waitAfter waits for the tasks of g, which were cancelled before the sequence panicked. If a task has panicked,
// waitAfter reports the panic of the sequence, and panics with the task's.
func (o *options) waitAfter(g *weir.Group, sequence *weir.Panic) {
	defer func() {
		if first := recover(); first != nil {
			o.report(sequence)
			panic(first)
		}
	}()
	_ = g.Wait()
}

// fails returns the task for an error that the source gave instead of an item. It ends the loop as a task of g that
// fails does, except that the cause is the error itself, without an index.
func (o *options) fails(g *weir.Group, err error) func(context.Context) error {
	return func(context.Context) error {
		if o.keepGoing {
			return sourceError{err}
		}
		g.Cancel(err)
		return nil
	}
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
