// Package engine runs values on a bounded number of reused goroutines. It is
// what every public type of weir is a face of; it knows nothing of contexts,
// errors or groups, and does not know what a task is: a function, a member of a
// group, an argument.
//
// # The parts
//
//   - ring: a bounded FIFO of task slots; one compare-and-swap for a push or a pop.
//   - queue: the rings of one engine, chained as the queue grows.
//   - contention: when a worker lets others take tasks first; the pauses with which submitters and Lock do so, too.
//   - permits: one word that counts the active workers against the limit and
//     holds the searching token.
//   - bucket: tokens, which come at a rate; rated: an engine whose tasks take some.
//   - submitters: those that wait for room.
//   - subtasks: those of a task, next to the queue.
//   - place: what a task that has begun runs on; the stack of the tasks that have lent it.
//   - want: what tasks wait for, to which a place may be lent.
//   - waiter: a goroutine of a task during a wait.
//   - tally: the tasks of a set that begins and ends together.
//   - wait: a call of Wait, and the count of the workers that it depends on.
//   - worker: a goroutine, its cell and its parking place.
//   - meter: how long tasks wait and run; which of them are measured.
//   - expiry: the end of tasks that are queued for too long.
//   - probe: which workers have had one task for long.
//   - lane: an engine that has its places and goroutines from another one; what lanes of one engine and its queue share.
//   - bids: the lanes that want a place, and which of them is next.
//   - carry: the workers on which those of lanes run, and what these lend.
//
// # The first tasks and the last worker
//
// While the queue has no ring, the engine hands the first tasks to workers that are born with them: many pools are never given
// more at once, and a ring, and the search in it, cost more than such a task. Tasks from the queue come with new workers as well
// once a row of workers has been born of which none came back for a second task: see rush. Retire says that a goroutine
// waits for all tasks: workers that find nothing to do end then, and the end of the last one ends the wait.
//
// The caller may have begun tasks before it made the engine. By Enter each of them has a permit, until Leave; by Adopt the goroutine
// of one becomes a worker, because it needs a place that it can lend.
//
// # The two speeds
//
// Tasks flow through the ring without a lock. Everything rare is done under
// the one lock, Engine.mu, where it can be exact and simple: growing, waiting,
// parking, resizing, closing. A gate, one bit in the word that a fast path must
// exchange anyway, sends every goroutine the slow way: while the head of the queue
// is gated, goroutines take tasks only under the lock; while the tail is gated, they
// add tasks only under the lock. Closing a gate makes every exchange that is under
// way fail, so that no goroutine can undercut what the lock's holder decides next.
//
// # The rules that keep wake-ups from being lost
//
//  1. A goroutine that adds a task looks at the permits afterwards: if a worker may be
//     woken and none is searching, it wakes one, which is then searching.
//  2. A searching worker that found a task releases the token, then looks at
//     the queue again, and wakes a successor, before it runs its task. A goroutine that gives a task to a new
//     worker, which need not search, releases the token for it, and then looks at the queue again.
//  3. A worker that goes to rest first counts as idle, then releases its permit
//     (and the token), then looks at the queue once more, and parks last.
//  4. A goroutine that raises the limit looks at the submitters that wait and at the queue afterwards.
//  5. While a submitter waits for room, both gates are closed. A worker
//     whose take was under way when they closed sees the gate after it has
//     freed its slot, and serves the submitters.
//  6. While a set of subtasks has open tasks, or a task without a place wants to go on, the
//     head is gated and Engine.beside is set. A goroutine that lists the set looks at
//     the permits afterwards, rule 1; a searching worker that took a task by the
//     fast path releases the token and then looks at both. Goroutines release
//     permits only under the lock, and the one that releases the lock looks at both again.
//  7. The goroutine that adds a subtask looks afterwards whether a task waits for it; a task that
//     begins to wait says so before it looks at the subtasks. When a place becomes
//     vacant, the worker that leaves it has looked for work below, under the lock.
//  8. A lane that has work and may have one more worker, but no place, bids for one: the bid holds the searching token of the lane, so rule 1
//     is kept. While there are bids the head of the parent's queue is gated, and Engine.beside is set. A goroutine that adds a bid, or takes
//     one back, or releases a permit that a bid or a task that waits may need above, notes each engine that this concerns; the one that
//     releases the lock, which all of them share, settles each of these as its own, and looks at all of them again.
//     A worker of a lane looks before each task whether its place is wanted above.
//  9. A goroutine that finds a task and no token says, under the lock, that the engine is throttled, and joins the waiters of the bucket. The
//     goroutine of the bucket's timer says that it is not, under the lock, and looks at the queue afterwards; one that adds a task looks at throttled afterwards.
//
// In each rule one side writes and then looks, and the other side writes and then
// looks in the opposite order. Go's atomics are sequentially consistent, so
// one of the two must see the other.
package engine
