package par

import (
	"context"
	"iter"
)

// Stream returns the results of fn for the items, one result after the other as the consumer asks for them:
//
//	for result, err := range par.Stream(ctx, items, fn) {
//
// When a call fails, its result comes with its error: a [*weir.TaskError] with the index of the item. The
// stream ends after it, unless [KeepGoing] is set. When ctx is done, the next result is the cause of ctx,
// even if other results are ready, and it is the last. Leaving the range statement ends the stream, and waits
// until nothing of it runs any more. See Streams in the package documentation.
//
// The offer of an item synchronizes before the call for it, and the end of the call synchronizes before the
// stream hands over its result. An item costs about 0.1 µs in addition to fn.
func Stream[T, R any, S Source[T]](ctx context.Context, items S, fn func(context.Context, T) (R, error), opts ...StreamOption) iter.Seq2[R, error] {
	mustContext(ctx != nil)
	return Pipe(items, fn, opts...).All(ctx)
}
