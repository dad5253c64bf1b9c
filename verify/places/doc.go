// Package places models how a pool lends the places of waiting tasks. It does not use the library, and is the
// reference for the library's rule. A waiting task lends its place only to work that it waits for, and goes
// on at the moment its wait is over.
//
// # The rule
//
// A pool has a limit of places, and a queue. A place is a stack of tasks. Only the top of the stack runs. A
// task that ends gives the place to the task beneath. A place is free when no task is on it. It is idle when
// its top waits: for members of a group (all, the first, the next, room for one more), for items of a stream,
// or for a future. A root is a task that was handed over from outside and that no task waits for.
//
// The first task in the queue starts on a free place. An idle place is lent in two cases:
//
//  1. A task's idle place goes to the first unstarted task of the same pool on the path of the waiting task.
//     The path consists of the tasks that it waits for, the tasks that these wait for, and so on.
//  2. If case 1 starts nothing on a pool and no task of the pool runs, any idle place of the pool is lent. It goes
//     to the first unstarted task in the pool's queue for which some task of any pool waits.
//
// A task whose wait is over goes on at once, in its own place. If that place is lent, the tasks above the
// waiting task move, as a stack, to the first of these that exists:
//
//  1. the place of the same pool that a task has just left, if the end of that task, or its delivery of an
//     item, ended the wait;
//  2. a free place;
//  3. an extra place.
//
// The place just left may be the waiting task's own, because a task above it has left it. Then the waiting task
// goes on there, on top of the others, unless it is a root. An extra place can be lent like any other. While
// there are more places than the limit, the queue starts nothing, and the next place that becomes free vanishes.
//
// A helper of a stream counts as unstarted between two items if it left its place to the stream's owner: it
// is at the front of the queue. A helper does not leave its place inside a user's yield.
//
// Cancellation goes down to subtasks. A group whose wait is cancelled drops its unstarted members, cancels the others and
// waits for them. A cancelled wait for a future returns at once, and the future goes on. A task of which
// several goroutines wait lends one place.
//
// # What holds
//
// After each step, [Run] checks that
//
//   - each running or waiting task is on exactly one place, and a running task is on top of it;
//   - there are as many places as the limit and the extra places make, and no more tasks run;
//   - no place is free while the queue is not empty;
//   - a lent place goes only to an awaited task;
//   - a task whose wait is over goes on;
//   - no place is in use at the end.
//
// At most limit roots have begun and not ended. They start only on free places and stay there, so each root
// is on a place of its own.
//
// The library lends less in one case: a path that leaves the pool and comes back. The library follows it
// through groups and calls of Do, to the nearest task of the pool, but not through futures.
//
// Every program ends if its locks are restricted as follows. A task takes a lock only after earlier locks. It
// holds the lock over a wait only if the work that it waits for, subtasks included, takes only later locks,
// and one of these holds:
//
//   - all of that work runs on the holder's own pool;
//   - on the pools of that work, and on all pools to which tasks of those pools hand work, no task takes the
//     lock or an earlier one.
package places
