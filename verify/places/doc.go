// Package places models how a pool lends the places of tasks that wait. It knows nothing of the library, and is the
// reference for its rule: a waiting task lends its place only to work that it waits for, and goes on the moment its wait is over.
//
// # The rule
//
// A pool has a limit of places, and a queue. A place is a stack of tasks. Only the top of the stack runs, and a task that
// ends gives the place to the task beneath. A place is free when no task is on it, and idle when its top waits: for members
// of a group (all, the first, the next, room for one more), for a stream's items, or for a future.
//
// The first task in the queue starts on a free place. A place is lent in two cases:
//
//  1. The idle place of a task goes to the first unstarted task of the same pool on the path of the waiting task. On the path
//     are the tasks that it waits for, those that these wait for, and so on.
//  2. If case 1 starts nothing on a pool and none of its tasks runs, any idle place of it goes to the first
//     unstarted task in its queue that some task of any pool waits for.
//
// A task whose wait is over goes on at once, in its own place. If that place is lent, what has it moves, with what stands on it,
// to the first of these that exists: the place of the same pool that a task has just left whose end, or delivery of an item,
// ended the wait; a free place; an extra place. If the place just left is the task's own, which a task further up has left, the
// waiting task goes on there, on top of the others, unless it was handed over from outside. An extra place can be lent like any
// other. While there are more places than the limit, the queue starts nothing, and the next place that becomes free vanishes.
//
// A helper of a stream counts as unstarted between two items if it left its place to the stream's owner: it stands at the
// front of the queue. It does not leave its place inside a user's yield.
//
// Cancellation goes down. A group whose wait is cancelled drops its unstarted members, cancels the others and waits for them.
// A get that is cancelled returns at once, and the future goes on. A task several of whose goroutines wait lends one place.
//
// # What holds
//
// After each step [Run] checks that a task that runs or waits is on one place, on no other, and runs only on top; that there
// are as many places as the limit and the extra ones make, and no more tasks run; that no place is free while the queue is not
// empty; that a lent place goes only to an awaited task; that a task whose wait is over goes on; and at the end that no place is in use.
//
// Of the tasks handed over from outside that no task waits for, the roots, at most the limit have begun and not ended: they
// start only on free places, and stay there, so each is on a place of its own.
//
// The library lends less in one case: a path that leaves the pool and comes back is followed through groups and calls of Do,
// to the nearest task of the pool, and not through futures.
//
// Every program ends whose locks are restricted: a task takes a lock only after earlier ones, and holds it over a wait only if
// the work that it waits for, with its subtasks, takes only later locks, and either all of that work runs on the holder's own
// pool, or no task on its pools, nor on any pool to which those pools' tasks hand work, takes the lock or an earlier one.
//
// # The search
//
//	go test ./places                              programs made by hand and drawn, and tiny ones under all schedules
//	go test ./places -places.programs=1000000     more drawn ones; also -places.seed
//	go test ./places -places.deep                 more tiny ones, which takes a minute or two
package places
