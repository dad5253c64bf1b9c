package par

import (
	"context"
	"iter"
)

// A Pipeline is a stream that does not run yet. It runs when [Pipeline.All] is ranged over, or as the
// [Source] of a loop, a [Stream] or another stage, with their context. It may run several times, also at
// once, if its source allows that. The zero value has no items.
type Pipeline[T any] struct {
	run pull[T]
	all pull[T] // what All does instead, if it is not nil
}

// Pipe returns a stage of a pipeline: a [Stream] that the next stage runs.
//
//	files := par.Pipe(paths, read, par.Limit(4))
//	for sum, err := range par.Stream(ctx, files, digest) {
//
// All stages work at the same time, each within its own [Limit] and [Ahead]. A slow stage holds back the
// stages before it. When the last stage ends, for whatever reason, it cancels all others. They have ended
// before its range statement ends. For errors see Pipelines in the package documentation.
func Pipe[T, R any, S Source[T]](items S, fn func(context.Context, T) (R, error), opts ...StreamOption) *Pipeline[R] {
	mustFunction(fn != nil)
	o := newOptions(opts)
	call := prepare(&o, fn)
	all, from := open[T](items)
	return &Pipeline[R]{run: func(ctx context.Context, yield func(R, error) bool) {
		f := newFlow(ctx, o, call, all, from)
		defer f.stop()
		f.start()
		f.deliver(yield)
	}}
}

// Results makes a [Source] from a sequence of items or errors.
//
// To chain streams, use [Pipe]: a [Stream] that is passed as seq has a context of its own, and can be stopped
// only when it has its next result.
func Results[T any](seq iter.Seq2[T, error]) *Pipeline[T] {
	mustSource(seq != nil)
	run := func(ctx context.Context, yield func(T, error) bool) (ended bool) {
		for item, err := range seq {
			if ctx.Err() != nil {
				var none T
				yield(none, outerCause(ctx))
				return false
			}
			if !yield(item, err) {
				return false
			}
		}
		return true
	}
	return &Pipeline[T]{
		run: func(ctx context.Context, yield func(T, error) bool) { run(ctx, yield) },
		all: func(ctx context.Context, yield func(T, error) bool) {
			if run(ctx, yield) && ctx.Err() != nil { // loops and streams ask the context themselves
				var none T
				yield(none, outerCause(ctx))
			}
		},
	}
}

// All returns the results of the pipeline, as [Stream] does. Those of [Results] go on after an error, as their
// sequence does. The pipeline runs each time the results are ranged over, and not before.
func (p *Pipeline[T]) All(ctx context.Context) iter.Seq2[T, error] {
	mustSource(p != nil)
	mustContext(ctx != nil)
	if p.all != nil {
		return func(yield func(T, error) bool) { p.all(ctx, yield) }
	}
	return func(yield func(T, error) bool) { p.pull(ctx, yield) }
}

func (p *Pipeline[T]) pull(ctx context.Context, yield func(T, error) bool) {
	if p.run != nil {
		p.run(ctx, yield)
	}
}
