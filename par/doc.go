// Package par runs loops and streams in parallel: over slices, maps, sequences and
// channels, on a few goroutines of their own or on a [weir.Pool].
//
//	sizes, err := par.Map(ctx, urls, size, par.Limit(8))
//
// # What to use
//
//   - [Each], [Map], [Filter], [Reduce]: a call for each item, which may fail or wait.
//   - [Range]: pure computation over the indices of something large, at next to no cost
//     for each.
//   - [Sort], [SortFunc]: what [slices.Sort] does, on all cores.
//   - [Stream]: results one after the other while others are still worked on, for sources
//     that are long or never end.
//   - [Pipe]: a stage before a stream, or before another stage.
//   - [Batch], [BatchFor]: several items at a time, for a loop or a stage.
//
// A [Source] says what the items may come from. Loops and streams take the same options:
// how many calls run at once ([Limit]), where ([On]), and whether errors end them
// ([KeepGoing]); streams also how far they may run ahead ([Ahead]), and whether they keep
// the order ([Unordered]).
//
// # Errors and contexts
//
// [Each], [Map], [Filter] and [Reduce] return
//
//   - nil, if all calls succeeded and the context lasted;
//   - the first error in time, as a [*weir.TaskError] with the index of the item; it cancels the
//     context that the other calls have got, and no more calls are made;
//   - the cause of the context, if that was done before;
//   - with [KeepGoing] all errors, each a [*weir.TaskError], joined in the order of the
//     items, with the cause of the context if that is done.
//
// An error that comes from a [Source] is among these as it is.
//
// They return when all calls have ended, and leave no goroutine behind, however they end.
// A call that has begun is not interrupted: it should watch its context. The loop leaves out what
// calls return because the context has ended, except with KeepGoing: the cause stands for it. To set a
// time-out for each call, the function uses [context.WithTimeout] on the context that it gets.
//
// # Sources
//
// A source that is not a slice is read by one goroutine: a loop's by the caller, a stream's by one
// more of its own. A loop or stream that ends early stops a sequence at the next item that it
// offers, and waits for that; one that goes on nevertheless panics, as in a range statement. So a
// sequence that may wait for long should watch a context; cancel that, too, before you leave the
// range statement over a stream.
//
// # Streams
//
// Results come in the order of the items, or with [Unordered] as they get ready. At most [Limit]
// calls of the function run at once, and at most [Ahead] items are under way, so that a slow
// consumer slows down the source. A result is handed over as soon as it and those before it are
// ready, whether or not the source has another item.
//
// However the range statement ends, also by break, return, or a panic in its body, it first cancels
// the context of the calls under way, stops the source, and waits for both. If the function or the
// source panicked, the range statement panics with a [*weir.Panic] that carries the stack of that;
// [runtime.Goexit] in one of them counts as the error [weir.ErrGoexit].
//
// The body of the range statement runs on the goroutine that ranges. Nothing runs before the stream
// is ranged over; that may be done several times, if the source allows it.
//
// # Pipelines
//
// An error passes through all stages that follow, to its place among the last one's results, and
// ends every stage that it reaches and that has no [KeepGoing]. An error of a stage has an index in
// this stage's own input: the results of the stage before, or batches, an error among them counting
// as one. One of an earlier stage keeps the index that it had there: wrap errors with a name where
// they must be told apart.
//
// # Ranges
//
// [Range] cuts its ranges so that a call takes about 10 µs, however uneven the work is; where it is
// slow, a range can be a single index. Range begins alone, and starts no goroutine as long as the
// rest does not seem to be worth that, which is about 50 µs of work. So it suits loops over many
// indices; for a few slow items, or items that wait for something, there is [Each], which starts at
// once. If the indices take less than 10 µs no more goroutines than [runtime.GOMAXPROCS] take part.
//
// # Panics
//
// A panic of the function comes out of the loop as a [*weir.Panic] with the value and the
// stack of the call that panicked, when all other calls have ended; their context is
// cancelled. Of several panics the first comes out; the others are logged, or on a pool
// reported as its tasks' are. A call that ends its goroutine by [runtime.Goexit], as t.FailNow
// does, has failed with [weir.ErrGoexit].
//
// # Arguments
//
// A nil function, context, sequence, channel or Pipeline, and a number below 1 where it must
// not be, panic at the call, before anything runs. A nil slice has no items. Indices of
// items count from 0.
//
// # Goroutines
//
// The functions given to loops and streams never run on the caller's goroutine, with the
// exception of [Range], [Sort] and [SortFunc]. They run on up to [Limit] goroutines that
// start when there is work for them, and are gone when the loop or stream has ended, or with
// [On] on a pool. The start of a
// loop synchronizes before each call, and the end of each call before the return of the
// loop.
//
// On a pool the calls of loops and streams that a task makes with its context come before what is
// queued; of a pipeline only the last stage's do. A task of the pool calls the function for many
// items. So a loop or stream that runs when the pool is paused, or its limit lowered, goes on with
// those that its tasks come to.
//
// Everything works inside a [testing/synctest] bubble.
package par
