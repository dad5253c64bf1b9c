// Package par runs loops and streams in parallel over slices, maps, sequences and channels. The calls run on
// a few goroutines that par starts, or on a [weir.Pool].
//
//	sizes, err := par.Map(ctx, urls, size, par.Limit(8))
//
// # What to use
//
//   - [Each], [Map], [Filter], [Reduce]: one call for each item; the call may fail or wait.
//   - [Range]: pure computation over many indices, at almost no cost for each index.
//   - [Sort], [SortFunc]: what [slices.Sort] and [slices.SortFunc] do, on all cores.
//   - [Stream]: results one after the other, while the calls for later items still run. It suits sources that
//     are long or never end.
//   - [Pipe]: a stage before a stream, or before another stage.
//   - [Batch], [BatchFor]: several items at a time, for a loop or a stage.
//
// The items come from a [Source]. Loops and streams take the same options: how many calls run at once
// ([Limit]), where they run ([On]), and whether an error ends the loop or stream ([KeepGoing]). Streams take
// two more: how many items may be under way ([Ahead]), and whether the results keep the order of the items
// ([Unordered]).
//
// # Errors and contexts
//
// [Each], [Map], [Filter] and [Reduce] return
//
//   - nil, if all calls succeeded and the context has not ended;
//   - the first error in time, as a [*weir.TaskError] with the index of the item; this error cancels the
//     context of the other calls, and no more calls start;
//   - the cause of the context, if the context ended before the first error;
//   - with [KeepGoing] all errors, each a [*weir.TaskError], joined in the order of the items, and the cause
//     of the context if the context has ended.
//
// An error that comes from a [Source] is returned as it is, not as a TaskError.
//
// Loops return when all calls have ended, and leave no goroutine behind, however they end. A loop never
// interrupts a call that has begun: the call should watch its context. When the context has ended, the loop
// returns its cause and leaves out the errors of the calls that returned because of it, except with
// KeepGoing. To set a time-out for each call, use [context.WithTimeout] in the function, on the context that
// it gets.
//
// # Sources
//
// One goroutine reads a source that is not a slice: the caller reads for a loop, an additional goroutine for
// a stream. A loop or stream that ends early stops a sequence when the sequence offers its next item, and
// waits for that moment. A sequence that continues after it was stopped panics, as it does in a range
// statement. So a sequence that may wait for long should watch a context. Cancel that context, too, before
// you leave the range statement over a stream.
//
// # Streams
//
// Results come in the order of the items, or with [Unordered] as they get ready. At most [Limit] calls of the
// function run at once, and at most [Ahead] items are under way, so a slow consumer slows down the source.
// The stream hands over a result as soon as it and all results before it are ready, whether or not the source
// has another item.
//
// The range statement may end by break, by return, or by a panic in its body. In each case it first cancels
// the context of the running calls, stops the source, and waits for both. If the function or the source
// panicked, the range statement panics with a [*weir.Panic] that carries the stack of that panic.
// [runtime.Goexit] in the function or the source counts as the error [weir.ErrGoexit].
//
// The body of the range statement runs on the goroutine that ranges. Nothing runs before the range statement
// starts. You may range over a stream several times, if its source allows that.
//
// # Pipelines
//
// An error passes through all later stages, to its place among the results of the last stage. It ends every
// stage that it reaches and that has no [KeepGoing]. The index of an error counts the inputs of the stage
// that failed: the results of the stage before, or batches. An error among these inputs counts as one input.
// Later stages do not change the index: to tell the errors of different stages apart, wrap them with a name.
//
// # Ranges
//
// [Range] cuts its ranges so that a call takes about 10 µs, however uneven the work is. Where the work is
// slow, a range can be a single index. Range begins on the caller alone. It starts goroutines only if the
// rest seems worth it, which means at least about 50 µs of work. So Range suits loops over many indices. For
// a few slow items, or items that wait for something, use [Each], which starts goroutines at once. If an
// index takes less than about 1 µs, no more goroutines than [runtime.GOMAXPROCS] take part.
//
// # Panics
//
// If the function panics, the loop panics with a [*weir.Panic] that has the value and the stack of the call.
// It does so when all other calls have ended; their context is cancelled. If several calls panic, the loop
// panics with the first panic. The other panics are logged, or on a pool reported like those of its tasks. A
// call that ends its goroutine by [runtime.Goexit], as t.FailNow does, has failed with [weir.ErrGoexit].
//
// # Arguments
//
// A nil function, context, sequence, channel or Pipeline panics at the call, before anything runs. So does a
// number that is below its minimum. A nil slice has no items. Indices of items count from 0.
//
// # Goroutines
//
// The functions given to loops and streams never run on the caller's goroutine, except those of [Range],
// [Sort] and [SortFunc]. They run on up to [Limit] goroutines, which start when there is work for them and
// have ended when the loop or stream has; or with [On] on a pool. The start of a loop synchronizes before
// each call, and the end of each call synchronizes before the return of the loop.
//
// If a task of a pool runs a loop or stream on the same pool with its context, the calls run before queued
// tasks, also while [weir.Pool.Close] waits. In a pipeline this holds only for the calls of the last stage: the
// stages before it fail with [weir.ErrClosed] once the pool is closed. In a stream, and in a loop over a
// slice, one task of the pool calls the function for many items, unless the pool has a [weir.Rate]. So if the
// pool is paused, or its limit lowered, running loops and streams continue with the items that their running
// tasks take; and [weir.OnSlow] and the Times of the pool see tasks that take as long as all their calls. For
// the times of the calls use [Measure].
//
// If the pool has a rate, each call is a task that waits in the queue for its turn. For [Reduce], [Range], [Sort]
// and [SortFunc] only each helper, which makes many calls, takes a turn.
//
// Goroutines that par starts have the profiler labels of the caller. In a loop over a source that is not a
// slice, they have those of the context, by [pprof.WithLabels] or [weir.Label]; so do the tasks of a pool by
// [weir.Label].
//
// Everything works inside a [testing/synctest] bubble.
package par
