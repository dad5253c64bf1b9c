// Package engine runs tasks on a bounded number of reused goroutines. Every public type of weir is a face of it.
// The engine knows nothing of contexts, errors or groups. It does not know what a task is either: a function, a
// member of a group, or an argument. Why no wake-up is lost is said at the end.
//
// # The parts
//
//   - task: the three words that travel through an engine.
//   - engine: the Engine, its configuration, and what each goroutine does when it releases the lock.
//   - submit: the ways to hand a task over, with and without waiting.
//   - control: start, resize, pause, close, retire; the counts of Stats.
//   - ring: a bounded FIFO of task slots; one compare-and-swap for a push or a pop.
//   - queue: the rings of one engine, chained as the queue grows.
//   - contention: when a worker lets others take tasks first; the pauses of workers, submitters and Lock.
//   - permits: one word that counts the active workers against the limit and holds the searching token.
//   - bucket: tokens, which come at a rate; rated: an engine whose tasks take tokens.
//   - submitters: the submitters that wait for room.
//   - subtasks: the tasks that a task hands over; they stand next to the queue.
//   - place: what a task that has begun runs on; the stack of the tasks that have lent it.
//   - want: what tasks wait for, to which a place may be lent.
//   - waiter: a goroutine of a task during a wait.
//   - wakeup: how the engine learns that a task's wait is over before the task's goroutine runs.
//   - tally: the tasks of a set that begins and ends together.
//   - tally_direct: tasks of a set that run outside an engine, and those that wait for one of them to end.
//   - wait: a call of Wait, and the count of the workers that it depends on.
//   - bell: what a goroutine outside tasks waits at.
//   - worker: a goroutine, its cell and its parking place.
//   - worker_next: how a worker finds its next task.
//   - worker_rest: how a worker takes a task under the lock, parks, or ends; the end of idle workers.
//   - meter: how long tasks wait and run; which tasks are measured.
//   - expiry: the end of tasks that are queued for too long.
//   - probe: which workers have had one task for long.
//   - lane: an engine that has its places and goroutines from another one; what the lanes of an engine and its
//     queue share.
//   - bids: the lanes that want a place, and which of them is next.
//   - carry: the workers on which workers of lanes run, and the places that these lend.
//
// # The first tasks and the last worker
//
// While the queue has no ring, the engine hands the first tasks to workers that are born with them. Many pools
// never hold more tasks at once, and a ring, with the search in it, costs more than such a task. Tasks from the
// queue come with new workers, too, once a row of workers has been born of which none came back for a second task:
// see rushes. They come with idle or new workers if the queued tasks take long, while fewer workers than
// processors are active: see spreads. Retire says that a goroutine waits for all tasks: then workers that find
// nothing to do end, and the end of the last worker ends the wait.
//
// The caller may have begun tasks before it made the engine. Enter gives each of them a permit, until Leave. Adopt
// makes a worker of the goroutine of such a task, because the task needs a place that it can lend. Stand takes over a
// task whose submitter has waited for room before there was an engine.
//
// # The two speeds
//
// Tasks flow through the ring without a lock. Everything rare is done under the one lock, Engine.mu, where it can be
// exact and simple: growing, waiting, parking, resizing, closing. A gate is one bit in the word that a fast path must
// exchange anyway; it sends every goroutine the slow way. While the head of the queue is gated, goroutines take tasks
// only under the lock. While the tail is gated, they add tasks only under the lock. Closing a gate makes every
// exchange that is under way fail, so no goroutine can undercut what the lock's holder decides next.
//
// # The rules that keep wake-ups from being lost
//
//  1. A goroutine that adds a task looks at the permits afterwards. If a worker may be woken and none is searching,
//     the goroutine wakes one, which is then searching.
//  2. A searching worker that has found a task releases the token, then looks at the queue again, and wakes a
//     successor, before it runs its task. A goroutine that hands a task over to a worker, which need not search,
//     releases the token for it, and then looks at the queue again.
//  3. A worker that goes to rest first counts as idle, then releases its permit (and the token), then looks at the
//     queue once more, and parks last.
//  4. A goroutine that raises the limit looks at the waiting submitters and at the queue afterwards.
//  5. While a submitter waits for room, both gates are closed. A worker whose take was under way when they closed
//     sees the gate after it has freed its slot, and serves the submitters.
//  6. While a set of subtasks has open tasks, or a task without a place wants to go on, the head is gated and
//     Engine.beside is set. A goroutine that lists the set looks at the permits afterwards, as in rule 1. A searching
//     worker that took a task by the fast path releases the token, and then looks at Engine.beside and the permits.
//     Goroutines release permits only under the lock, and the goroutine that releases the lock looks at both again.
//  7. The goroutine that adds a subtask looks afterwards whether a task waits for it. A task that begins to wait says
//     so before it looks at the subtasks. When a place becomes vacant, the worker that leaves it has looked, under the
//     lock, for work that the task of that place waits for.
//  8. A lane that has work and may have one more worker, but no place, bids for a place. The bid holds the searching
//     token of the lane, so rule 1 is kept. While there are bids, the head of the parent's queue is gated, and the
//     parent's Engine.beside is set. A goroutine that adds or withdraws a bid, or releases a permit that a bid or a
//     waiting task may need above, notes each engine that this concerns. All these engines share one lock. The
//     goroutine that releases it settles each noted engine like its own, and looks at all of them again. A worker of
//     a lane looks before each task whether its place is wanted above.
//  9. A goroutine that finds a task and no token says, under the lock, that the engine is throttled, and joins the
//     waiters of the bucket. The goroutine of the bucket's timer says, under the lock, that the engine is not
//     throttled any more, and looks at the queue and the bids afterwards. A goroutine that adds a task looks at
//     throttled afterwards. A lane with the bucket of its parent bids instead, before it releases the lock, and the
//     engine above that joins the bucket stays throttled as long as one of its lanes bids for a token. A throttled lane
//     does not bid, so by rule 8 none of its permits is offered to work that a task waits for, which needs no token. A
//     goroutine that finds no permit for such work notes that under the lock, and the one that releases the permit then
//     offers it: see lacksPermit.
//
// In each rule one side writes and then looks, and the other side writes and then looks in the opposite order. Go's
// atomics are sequentially consistent, so one of the two must see the other.
package engine
