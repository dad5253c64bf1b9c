// Package history records the calls that many goroutines make to one pool at once. It checks whether a pool
// that does one thing after the other could have given the same answers.
//
// # What is linearizable
//
// Some operations of a [github.com/64ed045f/weir.Pool] and a [github.com/64ed045f/weir.FuncPool] take effect
// at one moment between the call and its return. These are TrySubmit, Submit, SubmitContext, Group.TryGo,
// Resize, Pause and Resume, the closing of a pool, and the start and the end of a task. The sequential pool
// to which they are compared has
//
//   - a limit, a queue of fixed length, running tasks, and the states paused and closed;
//   - room while its queue is not full. A queue of length 0 has room while a worker is free. A worker is
//     free, and takes the oldest task, while fewer than limit tasks run and the pool is not paused;
//   - ErrClosed for each call after Close or Shutdown. It returns ErrFull exactly if there is no room and no
//     free worker; for a call that does not wait, also if other callers may be waiting.
//
// No caller sees the moment at which a task starts or has finished. The start lies between the submission and
// the first action of the task. The end lies after the last action of the task, and before the return of any
// Wait, Group.Wait or Close that has waited for it.
//
// # What is not
//
//   - Wait and Close do not take effect at one moment. They bound the ends of tasks, as above. Close also
//     closes the pool at some moment between its call and return.
//   - Shutdown first closes the pool and then removes tasks from the queue, one at a time and in order, while
//     workers may still start others. When Shutdown has returned, nothing is queued.
//   - Stats reads one value after the other. Its Limit is that of one moment. Its counts package model compares, at
//     rest.
//   - Submitters that wait for room are served in order, but an observer cannot tell from outside when a
//     submitter began to wait. In a [testing/synctest] bubble it can.
//   - The histories do not show that a task starts eventually. Each history ends with a Wait for all tasks.
//
// Of some histories, with a hundred goroutines, thousands of tasks, and limits and queues of any length, the test only
// checks what must add up: that each task ran once or was handed back, what the pool has counted, and how many ran at once.
package history
