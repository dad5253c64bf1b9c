package par

import (
	"context"
	"iter"
)

// Stream returns what fn makes of the items, one after the other as they are asked for:
//
//	for result, err := range par.Stream(ctx, items, fn) {
//
// Results come in the order of the items, or with [Unordered] as they get ready. At most
// [Limit] calls of fn run at once, and at most [Ahead] items are under way, so that a
// slow consumer slows down the source. A result is handed over as soon as it and those
// before it are ready, whether or not the source has another item.
//
// When a call fails, its result comes with its error: a [*weir.TaskError] with
// the index of the item. After it the stream ends, unless [KeepGoing] is set. When ctx is
// done, the next result is the context's cause, even if others are ready, and it is the last.
//
// However the range statement ends, also by break, return, or a panic in its body, it
// first cancels the context of the calls under way, stops the source, and waits for both:
// nothing of the stream runs any more when it has ended. If fn or the source panicked,
// the range statement panics with a [*weir.Panic] that carries the stack of that;
// [runtime.Goexit] in one of them counts as the error [weir.ErrGoexit].
//
// fn runs on up to [Limit] goroutines, or with [On] on workers of a pool. A source that
// is not a slice is read by one goroutine more. The body of the range statement runs
// on the goroutine that ranges. Nothing runs before the stream is ranged over; that may be
// done several times, if the source allows it.
//
// The offer of an item synchronizes before the call for it, and the end of the call
// before its result is handed over. An item costs about 0.1 µs beyond fn.
//
// For several stages, see [Pipe].
func Stream[T, R any, S Source[T]](ctx context.Context, items S, fn func(context.Context, T) (R, error), opts ...StreamOption) iter.Seq2[R, error] {
	mustContext(ctx != nil)
	return Pipe(items, fn, opts...).All(ctx)
}
