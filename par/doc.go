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
// Everything works inside a [testing/synctest] bubble.
package par
