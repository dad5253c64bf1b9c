// Package errgroup runs functions that return errors on goroutines, and waits for them. It has the names and
// the behaviour of golang.org/x/sync/errgroup. To use it instead, change only the import path; it is faster
// for short functions.
//
// A new program should use [github.com/64ed045f/weir.Group] instead. That Group gives the context to its
// functions, leaves no goroutine blocked once it is cancelled, starts nothing more then, says which function
// failed, and can be used again. This package is for programs that already use errgroup of x/sync.
//
// # What stays the same
//
// The zero [Group] has no limit and cancels nothing. Go waits until its function may be active, so there is
// never a queue of functions beyond the limit. Wait returns the first error, and so does a later Wait. The
// first error cancels the context of [WithContext] and is its cause. [Group.SetLimit] with 0 lets no function
// in, and with a negative number it lets all in. With 0 or more it panics while functions are active under a
// limit. A function that calls [runtime.Goexit] has ended without an error. A function that panics ends the program.
// When all functions have ended no goroutines are left, whether or not Wait is ever called.
//
// # How it works
//
// The first functions of a group each get a goroutine. Most groups have no more functions, and for them
// nothing is faster.
//
// After that, Go puts a function into a ring for a goroutine to find, as long as a goroutine is searching the
// ring. Only one goroutine searches at a time. It ends its search as soon as it has found a function; before
// it runs the function, it starts a successor if the ring has more. So no function waits for another one to
// end, however long that blocks. And yet one goroutine runs many short functions: when it has run one it
// looks into the ring before it ends. No goroutine is ever idle. When a ring is full, a larger one follows
// it; a large ring is not kept. A function that waits for a processor takes 16 bytes, where a goroutine of
// its own would take 2 KiB.
//
// Under a limit a function counts from the moment Go lets it in until it has ended. A Go that finds no room
// blocks. A function that ends gives its place to the function that has waited longest, and the same
// goroutine runs that one next.
//
// The package does not use a [github.com/64ed045f/weir.Pool]. A version on the pool's engine was tried: a
// function took 119 ns instead of 68 without a limit, and 908 instead of 80 under a limit of 64. Each group
// would need a pool, which takes longer to make than it takes to run a small group's functions. Its idle
// workers would have to be ended where Wait is never called. And its workers drop the profiler labels of the
// goroutine that called Go.
//
// # What differs
//
//   - A function may return with its thread locked by [runtime.LockOSThread], for example because it has
//     changed the thread's namespaces and wants the thread destroyed. It then leaves the thread to later
//     functions of the group, because the runtime does not say that the thread is locked. Such a function
//     must end with [runtime.Goexit], which destroys the thread here as well.
//   - A function may run on a goroutine that has run other functions of the same group. It then has the
//     profiler labels that those set with [runtime/pprof.SetGoroutineLabels] and did not reset;
//     [runtime/pprof.Do] does reset them. Otherwise it has the labels of the goroutine that made the group
//     start this goroutine: mostly the caller of Go. So it is with [runtime/debug.SetPanicOnFault]: a function
//     that sets it must reset it.
//   - While a panic ends the program, Wait does not return, and neither does a Go that waits. In x/sync they
//     may return, and the program can even end as if nothing had happened.
//   - A nil function panics in Go and TryGo, with a message that says so, instead of on a goroutine.
//   - A limit that is set while functions run without a limit does not count them. If a limit is lifted while
//     functions wait for it, they are still let in one after the other. In x/sync both can block forever.
package errgroup
