// Package errgroup runs functions that return errors on goroutines, and waits for
// them. It has the names and the behaviour of golang.org/x/sync/errgroup, which it
// replaces by a change of the import path alone, and it is faster for functions
// that are short.
//
// A new program should rather use [github.com/64ed045f/weir.Group]: it gives the
// context to its functions, leaves no goroutine blocked once it is cancelled,
// starts nothing more then, says which function failed, and can be used again.
// This package is for programs that have x/sync's errgroup already.
//
// # What stays the same
//
// The zero [Group] has no limit and cancels nothing. Go waits until its function
// may be active, so there is never a queue of functions beyond the limit. The
// first error is what Wait returns, also after another Wait; it cancels the
// context of [WithContext] and is its cause. [Group.SetLimit] with 0 lets no
// function in, and with a negative number it lets all in; it panics while
// functions are active under a limit. A function that calls [runtime.Goexit] has
// ended, without error. A function that panics ends the program. When
// all functions have ended there are no goroutines left, whether or not Wait is
// ever called.
//
// # How it works
//
// The first functions of a group get a goroutine each. Most groups have no more than
// those, and for them nothing is faster.
//
// From then on Go puts a function into a ring, for a goroutine to find, as long as
// one is on its way to look there. Only one at a time searches; it gives that
// up as soon as it has found a function, and before it runs that it starts a
// successor if there is anything left. So no function waits for another one to
// end, however long that blocks, and yet one goroutine runs many short functions:
// when it has run one it looks into the ring before it ends. No goroutine
// is ever idle. A ring that is full is followed by a larger one, and a large one is
// not kept: a function that waits for a processor takes 16 bytes, where its own
// goroutine would take 2 KiB.
//
// Under a limit a function counts from the moment Go lets it in until it has ended. A
// Go that finds no room blocks; a function that ends gives its place to the one
// that has waited for longest, and the same goroutine runs that next.
//
// None of this is built on a [github.com/64ed045f/weir.Pool]. A version on the pool's engine was tried: a function took 119 ns
// instead of 68 without a limit, and 908 instead of 80 under a limit of 64. A pool would have to be
// made for each group, which takes longer than to run a small group's functions; its
// idle workers would have to be ended where Wait is never called; and its
// workers drop the profiler labels of the goroutine that called Go.
//
// # What differs
//
//   - A function that returns with its thread locked by [runtime.LockOSThread], as one does that has
//     changed the thread's namespaces and wants it destroyed, leaves the thread to later functions of the
//     group: the runtime does not say that it is locked. Such a function must end with [runtime.Goexit],
//     which destroys the thread here as well.
//   - A function may run on a goroutine that has run others of the same group, and has the profiler labels that
//     those left behind: set with [runtime/pprof.SetGoroutineLabels] and never set back; [runtime/pprof.Do] does
//     set them back. Otherwise it has the labels of the goroutine that made
//     the group start its own: most often, of the caller of Go.
//   - While a panic ends the program, Wait does not return, and no Go that
//     waits does. In x/sync they may, and the program can even end as if nothing
//     had happened.
//   - A nil function panics in Go and TryGo, with a message that says so, rather
//     than on a goroutine.
//   - A limit that is set while functions run without one does not count them. One
//     that is lifted while others wait for it still lets those in one after the
//     other. In x/sync both can block forever.
package errgroup
