// Package history records what many goroutines do with one pool at once, and asks whether a
// pool that does one thing after the other could have answered the same.
//
// # What is linearizable
//
// Of a [github.com/64ed045f/weir.Pool] and a [github.com/64ed045f/weir.FuncPool] these take effect at one moment, between the call and
// its return: TrySubmit, Submit, SubmitContext and Group.TryGo, Resize, Pause, Resume, that a
// pool is closed, that a task starts, and that it has finished. The sequential pool to which
// they are compared has
//
//   - a limit, a queue of fixed length, tasks that run, and whether it is paused or closed;
//   - room while its queue is not full. A queue of length 0 has room while a worker is free.
//     A worker is free, and takes the oldest task, while fewer than the limit run and the pool
//     is not paused;
//   - ErrClosed for each call after Close or Shutdown, and ErrFull exactly if there is no
//     room and no free worker; or, for a call that does not wait, if others may be waiting.
//
// No caller learns when a task starts and when it has finished. The start lies between the
// submission and the first thing that the task does. The end lies behind the last thing
// that the task does, and before the return of what has waited for it: Wait, Group.Wait,
// Close.
//
// # What is not
//
//   - Wait and Close do not take effect at one moment. They bound the ends of tasks, as above;
//     Close also closes the pool at some moment between its call and return.
//   - Shutdown closes the pool first and removes tasks from the queue afterwards, one at a time and in
//     order, while workers may still start others. When it has returned nothing is queued.
//   - Stats looks at one thing after the other. Its Limit is that of one moment. Its counts may
//     be off by what is in motion: a task that is queued, or that may be starting or
//     finishing during the call. What only ever grows must never be seen to shrink. When
//     nothing is under way all counts must be exact.
//   - Submitters that wait for room are served in order, but an observer cannot tell from outside when a
//     submitter began to wait. A [testing/synctest] bubble can.
//   - The histories do not say that a task starts in the end. Each of them ends with a Wait for all.
//
// # How to run it
//
//	go test ./history                           6000 histories
//	go test ./history -history.rounds=200000    more of them
//	go test ./history -history.seed=2           other calls
package history
