// Package weir runs any number of tasks on a bounded number of reused
// goroutines, with the speed of no pool at all and the safety of structured
// concurrency.
//
// # Vocabulary
//
// A task is a function handed to a pool. It is accepted when the call that
// hands it over returns nil, queued until a worker takes it, which starts it,
// and finished when it returns, panics or calls [runtime.Goexit]. A worker is a goroutine
// that runs one task at a time; an idle worker is parked. The limit is the most
// tasks that run at once. A pool is full when limit workers are busy and its
// queue has no room; a free worker always has room for one more task.
//
// # What to use
//
//   - [Group]: a set of tasks that begins and ends together, with a context,
//     errors and panics that come out of Wait. Most programs want this.
//   - [Pool]: long-lived, shared by many; tasks are plain functions.
//   - [FuncPool]: the same for one function and many arguments, without a
//     closure for each.
//   - [Default]: a pool shared by the whole program.
//
// # Promises
//
// An accepted task runs exactly once, or is handed back by Shutdown; a
// rejected one never runs. This holds under any mix of submitting, resizing,
// pausing, panicking, expiry and closing.
//
// Never more than limit tasks run at once. A queued task starts as soon as a
// worker may run it: it never waits behind a task that blocks while the limit
// allows one more worker.
//
// Workers take tasks in the order in which they were accepted. Submitters
// that wait for room are served in order too, and a newcomer cannot overtake
// them.
//
// In the terminology of the Go memory model, a call that submits a task
// synchronizes before the start of the task, and the end of the task
// synchronizes before the return of any Wait or Close that waited for it.
//
// A pool that nothing uses costs no goroutine. Nothing starts when the package
// is imported. Workers carry no profiler labels over from whoever happened to
// start them. Everything works inside a [testing/synctest] bubble, if the pool
// was made there.
//
// A call that can never be right, such as a nil task or a limit below 1,
// panics with a message that says what must hold. What can happen at run time
// is an error for [errors.Is]: [ErrClosed], [ErrFull], [ErrGoexit], or the
// cause of a context.
package weir
