package par

import (
	"context"
	"iter"
)

// A Pipeline is a stream that does not run yet. It runs when [Pipeline.All] is ranged over, or as the
// [Source] of a loop, a [Stream] or another stage, with their context. It may run several times, also at
// once, if its source allows that. The zero value has no items.
type Pipeline[T any] struct{ run pull[T] }

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
	return &Pipeline[R]{func(ctx context.Context, yield func(R, error) bool) {
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
	return &Pipeline[T]{func(ctx context.Context, yield func(T, error) bool) {
		for item, err := range seq {
			if ctx.Err() != nil {
				var none T
				yield(none, outerCause(ctx))
				return
			}
			if !yield(item, err) {
				return
			}
		}
	}}
}

// All returns the results of the pipeline, as [Stream] does. Those of [Results] go on after an error, as their
// sequence does. The pipeline runs each time the results are ranged over, and not before.
func (p *Pipeline[T]) All(ctx context.Context) iter.Seq2[T, error] {
	mustSource(p != nil)
	mustContext(ctx != nil)
	return func(yield func(T, error) bool) { p.pull(ctx, yield) }
}

func (p *Pipeline[T]) pull(ctx context.Context, yield func(T, error) bool) {
	if p.run != nil {
		p.run(ctx, yield)
	}
}
