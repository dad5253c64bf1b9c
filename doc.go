// Package weir runs any number of tasks on a bounded number of reused
// goroutines, at little cost for each, with the safety of structured
// concurrency.
//
// # Vocabulary
//
// A task is a function handed to a pool. It is accepted when the call that
// hands it over returns nil, queued until a worker takes and starts it,
// and finished when it returns, panics or calls [runtime.Goexit]. A worker is a goroutine
// that runs one task at a time; an idle worker is parked. The limit is the most
// tasks that run at once: the number of places. A task has a place from its start to
// its end. While it waits for other tasks, by a call of this module with the context
// that it got, the pool may lend the place to those tasks. If other workers have begun all of them,
// the place serves for nothing until the wait is over: a chain of tasks that each wait for the
// next may take all places of a pool, and still ends.
// A pool is full when limit workers are busy and its queue has no room; a free
// worker always has room for one more task.
//
// # What to use
//
//   - [Group]: a set of tasks that begins and ends together, with a context,
//     errors and panics that come out of Wait. Most programs want this.
//   - [Results]: a group's tasks that return values: all in order, each as it comes,
//     or the first.
//   - [Future]: one task of a pool whose value is wanted later.
//   - [Pool]: long-lived, shared by many; tasks are plain functions. [Pool.Do] runs one
//     where it is called, under the same limit. [Pool.Go] gives a service's task its context, and its error to [OnError].
//     [Pool.After], [Pool.At] and [Pool.Every] run tasks later.
//   - [Rate]: a limit of how often tasks begin. [Retry]: tasks that fail run again, and hold no place
//     between two tries. [Hedge]: a second call when the first one takes long.
//   - [Pool.Lane]: a part of a pool for one kind of work or one tenant, with its own queue, limit,
//     [Share] and [Priority].
//   - [FuncPool]: the same for one function and many arguments, without a
//     closure for each.
//   - [FuncContext]: the same for a function that gets a context and returns an error.
//   - [Stateful]: a FuncPool whose every worker owns a value, such as an encoder.
//   - [Keyed]: tasks with keys: at most so many of each key at once, or one after the other.
//   - [Once]: calls for the same key at the same time share one task and its value.
//   - [Default]: a pool shared by the whole program.
//   - Package [github.com/64ed045f/weir/par]: loops over slices, sequences and
//     channels, and streams of results.
//   - Package [github.com/64ed045f/weir/reuse]: objects that are costly to make, used again.
//   - Package [github.com/64ed045f/weir/weirhttp]: requests of net/http, limited.
//   - Module github.com/64ed045f/weir/weirnats: tasks that outlive the program, and are shared by many processes.
//
// # Time-outs
//
// A task bounds its own time by [context.WithTimeout] on the context that it got; the
// time that it waits in the queue does not count. For that to count, set a deadline
// before Go, and use [context.WithDeadline] in the task. To bound all tasks of a
// group, make the group from a context with a time-out. The library interrupts no
// task: the task must watch its context.
//
// # Blocking
//
// A task that comes back from [Blocking] gets a free place, before queued tasks and in the order of
// return, or that of a task of the pool which waits for it. If the others have all places
// meanwhile, and wait for a lock that the task holds, or that a goroutine outside the pool holds
// which waits for the task, all wait forever. A task of the same pool that waits for it may hold
// the lock. While other goroutines of the task still wait, the task may have no place yet: then it
// must take no such lock either.
//
// A subtask whose place is lent by the task that waits for it gives the place back to that task.
// The context of a group's task may pass to the group's next task on the same worker: a goroutine
// that the first has left behind then gives the place of the next one away. So does one that calls Blocking,
// or waits, just as its task ends: whichever task the worker runs next, one more than the limit may run meanwhile.
//
// # Go
//
// [Pool.Go] makes the context of its task from the one that it is given. The context of a request ends with the
// request, and that of a task with the task: for a task that must outlive them use [context.WithoutCancel]. What
// that returns refers to the task: where each task hands over the next one for ever, use a context from outside
// of them all.
//
// The context of a task asks the one that it is made from, also at the first call of Done. If that one is of the program's
// own type, the caller must hold no lock that its methods need.
//
// # Do
//
// [Pool.Do] is for work that must stay on its goroutine, such as a request that net/http serves,
// and share the limit of a pool with tasks. While it runs, a worker is parked for it: one more
// goroutine. Several goroutines of one task of the pool may call Do: the calls run at the same
// time, all in the place of the task. A task of another pool that calls Do keeps its place there,
// as in every wait. A call that is cancelled makes room in the queue.
//
// # Lanes
//
// A lane hands a task over when its pool has a place for it. Until then the task takes no room in the queue of
// the pool, and no worker. Places go by [Priority] and [Share]; the queue of the pool takes part with priority
// 0 and share 1. Tasks are not interrupted: a lane gets the next place that becomes free. Wait, Stats and Times
// of a pool leave out the tasks of its lanes, but Stats counts their workers. A lane needs its own [OnPanic],
// [OnError], [CrashOnPanic], [ExpireAfter], [Retry], [OnSlow], [OnFull] and [Measure].
//
// A pool and its lanes have the same places, and for waits they are one pool. A task that waits for
// a task of another lane lends its place to that task, if the limit of the lane lets it run. If not,
// the tasks that have the lane's places must end without anything that the waiting task holds.
//
// The rules for tasks of a full pool hold for all lanes together. A task that waits by Submit for room
// in another lane keeps its place meanwhile, so it should use TrySubmit, or hand over a task of a
// group or future, which starts in its place. The tasks of one lane may have all places and wait for
// a lock, while the goroutine outside that holds the lock waits for a task of another lane: then all
// wait forever. So do tasks that have all places and wait for tasks of other lanes with a context
// other than their own.
//
// Closing a pool closes its lanes. Close runs the tasks that they have accepted. Shutdown returns
// those that have not started after the tasks of the pool, lane by lane in the order in which the
// lanes were made. It returns an argument of a [FuncPool] as a function that calls the pool's function
// with it, and an argument of a [Stateful] likewise, with a value that is opened for the call. Arguments
// of a [FuncContext] go to its OnError.
//
// # Keys
//
// A key of a [Keyed] is in use while tasks of it are queued or run, or its [Group] is in use. [OnPanic],
// [OnError], [OnFull], [CrashOnPanic], [Rate] and [Retry] of the pool apply to tasks with keys, [ExpireAfter] does
// not. A task between two tries of Retry, or in [Blocking], does not hold up the next one of its key; one that
// retries by [Retrier.Do] does. Their times are not measured, and [OnSlow] does not see them. [Pools] yields all
// keys as one pool, and looks at each key in use. Wait of the pool leaves tasks with keys out, as it does tasks of
// lanes: a [Group] waits for those of a key, a [sync.WaitGroup] of the program for those of all. A task takes
// 0.1 µs where its key is in use, or few keys are in use at once, and up to 5 µs where thousands come into use
// one after the other.
//
// # Rates
//
// Lanes and the keys of a [Keyed] share the [Rate] of their pool, unless they have their own, and have their
// turns in the order in which they get places: by priority, and among equals one after the other. Subtasks need
// no turn, and neither does a task that starts early because another one waits for it. So the rate of a lane
// does not hold for what a task of the same pool, or of its lanes, waits for on the lane: a group, a future, a
// loop, a call of [Once.Do], [Hedge] or [Pool.Do]. There, give the limit to the group, or call [RateLimit.Wait].
//
// Tasks of a group whose turn has come may begin closer together on a busy pool. If that matters, give the
// limit to a lane and make the group on it. A turn of a group is given back if its Go is cancelled while it
// waits for room, and may then come on top of the others. When a timer of the runtime fires late, at most one
// millisecond's worth of tasks, or one task, catches up.
//
// # Retries
//
// Between two tries a task counts under a [Limit] of its group. With [Rate], each try waits for its own turn; if
// the group and the pool have one each, for one of each. A task's error in a group with [KeepGoing] has those of
// all its tries, otherwise that of the last one. A [Retry] of a group applies to the tasks of [Results], too.
// Lanes need their own.
//
// # Hedged calls
//
// A call of [Hedge] that the pool refuses or never starts has failed with [ErrClosed], [ErrFull] or [ErrExpired],
// and one that ends its goroutine with [ErrGoexit]. Hedge passes on a panic of a call; if it has already returned,
// or returns something else, the panic goes to [OnPanic], and with [CrashOnPanic] it ends the program. A [Retry]
// of the pool does not apply to the calls.
//
// # Timers
//
// Tasks of [Pool.After], [Pool.At] and [Pool.Every] that are due while the pool is full wait for room, in the
// order in which they were due. Together they count as one submitter: if [MaxWaiting] allows no more, a task is
// dropped, with [ErrFull] in a [*DroppedError]. While a thousand of these wait for a slow handler, no timer goes
// on. A task that is due and queued is treated as one of [Pool.Go]: if it does not start, as the context of Shutdown
// is done before, the function of [OnError] gets it, in a DroppedError, and Shutdown does not return it.
//
// Close drops the tasks that were not handed over, as they are not due or wait for room, and reports their
// number to the function of [OnError], in a [*TimersError]. Shutdown returns them, ordered by time, after the
// queued tasks, also those of lanes. On a closed pool After drops its task, with [ErrClosed] in a
// [*DroppedError], which is only logged if the function of OnError has called After. A pool with tasks for
// later is not garbage.
//
// # Futures
//
// A task that waits for a [Future] with the context it got lends its place to the future's task, if
// both are of the same pool and that has not started: it then starts before its turn. A future's
// task that was cancelled in the queue keeps its place there until a worker comes to it.
//
// # Once
//
// A task of a [Once] goes on as long as a caller waits for it. When the last caller leaves, the context of the
// task is cancelled with the cause of that caller's context, and the next call for the key hands over a new
// task. A task that has not started by then never does, but keeps its room in the queue until a worker comes to
// it. The context is also done when the task has ended and, with the cause [ErrClosed], when the context of
// [Pool.Shutdown] is done.
//
// A call waits for itself in the task for its key, or in a task that this one waits for through other keys, with
// the context of the task or one made from it: it gets [ErrRecursive]. Tasks of two Onces that wait for each
// other wait forever. While n tasks wait for each other in a row, a call by one of them may take time in
// proportion to n, and other calls wait for it.
//
// # Results
//
// The tasks of a [Results] are numbered from 0, anew for each use, in the order in which they are
// given to Go: the number is the place of the task's value, and the Index of the [TaskError] if it
// fails. Each of several Results that share a group numbers its own tasks, but what cancels the
// group concerns all. If the program waited for the group in another way, the results stay
// available until the next task is given to these Results.
//
// A group is not over until a loop over its results has seen them all, so the body of the loop may
// give more tasks. A producer that goes on giving tasks from elsewhere should be a task of the
// group, or the loop ends when there is none for a moment. With [KeepGoing] the last error of a
// loop is the cause, if the group was cancelled, and errors of tasks that were not given to these
// Results. Values that a loop has seen are not kept.
//
// # Values of workers
//
// A value of a [Stateful] that is still being closed counts against the limit: if that is used up,
// a worker waits before it opens its own. A worker that could not open its value tries again with
// its next argument; but while other workers have values it rests before that, for 1 ms and up to
// 100 ms when it fails again, so that most arguments go to them. Results of a call belong in its
// argument, which may be a pointer. For connections, which break and must be replaced, there is
// Keeper in package reuse.
//
// # Cost
//
// Once its pool has the queue and the workers, the first Go of a group after each Wait allocates
// the batch, and its context if the parent may end, and later calls nothing; a worker allocates a context for the first of
// the tasks that it runs until Wait. Do costs two goroutine switches and three allocations. Under the race detector
// each task has a goroutine of its own, so that it finds races between tasks: there a task takes some 15 µs,
// and one with a key up to 60 µs where many keys are in use.
//
// Where a task of a pool waits for one of another pool, that one for one of a third, and so on, each wait takes some
// 0.1 µs for every pool above it. Lanes in lanes are for a few levels: with fifty a task takes 1 µs a level, with a
// thousand 100 µs.
//
// # Looking inside
//
// [Pools] lists the pools of the program, and [Groups] its groups, as a tree of what waits for what.
// [Pool.Running] lists the tasks that have run for long, with their stacks, and [Pool.Times] tells how
// long tasks wait and run. [Lints] finds what is most often a mistake. [OnSlow] and [OnFull] call a
// function when a task is slow or a pool is full, and [Label] names tasks. Package
// [github.com/64ed045f/weir/weirdebug] shows all of it as pages. A program can begin to look at any
// time; only what [Watch] notes is not known for groups that began before.
//
// # Promises
//
//  1. An accepted task runs exactly once, or is handed back: by Shutdown, to
//     its group, when that is cancelled before the task starts, or to [OnError], when the context of a task of
//     [Pool.Go] is done before; or with [ErrExpired], when it was queued for longer than [ExpireAfter]
//     allows. A rejected task never runs. This holds under any mix of submitting, resizing, pausing,
//     panicking, expiry and closing.
//  2. Never more than limit tasks run at once, except in the extra places of promise 9; and
//     when a pool's Resize has returned no queued task starts while the new limit or more
//     places are in use. Tasks of a lane count in its pool, too.
//  3. A queued task starts as soon as a worker may run it, and, with [Rate], its turn has come: it never waits behind a
//     task that blocks while the limit allows one more worker.
//  4. Workers take tasks in the order in which they were accepted; the subtasks of
//     one that runs come before what is queued, and a task that another one waits for
//     may start out of turn, in a place that is lent. Submitters that wait for room
//     are served in order too, and a newcomer cannot overtake them. Lanes, and the queue of their pool, have an order each.
//  5. In the terminology of the Go memory model, a call that submits a task
//     synchronizes before the start of the task, and the end of the task before
//     the return of any Wait or Close that waited for it.
//  6. Close and Shutdown may be called more than once, at once, and while other
//     goroutines submit. When Close has returned no goroutine of the pool is left. Both close the lanes of the pool.
//  7. A panic or [runtime.Goexit] in a task loses neither a worker nor a place
//     under the limit, and leaves no goroutine blocked. See [OnPanic] and [Group.Wait].
//  8. A cancelled group starts none of its queued tasks, its blocked Go returns at
//     once, and its Wait returns the cause. When the context of Shutdown ends, each group with a task that
//     runs on the pool is cancelled, with [ErrClosed].
//  9. A task may make groups from the context it got, on its own pool or another, and wait for
//     them, to any depth and with any limit, without deadlock. It lends its place only to the
//     tasks it waits for, and to those that these wait for in turn; or, when all tasks of a pool
//     that have begun wait, to any task on it that a task waits for. It never lends the place to
//     a task that is just queued. So a lock held over the wait hangs nothing, and of the tasks
//     handed over from outside, and not waited for by other tasks, at most limit have begun. A task
//     whose wait is over goes on at once. If its place is still in use, or the task that has it does not
//     belong to the wait, the pool adds an extra place, beyond the limit, which [Stats] counts; while
//     any is left no queued task starts. A pool and its lanes count as one. [Blocking] gives the place on which a task began to any task.
//  10. A group may be used again after Wait; nothing of one batch is left to the next.
//  11. A pool that nothing uses costs no goroutine and at most 1 KiB; nothing starts
//     when the package is imported. A group with workers of its own leaves no
//     goroutine when Wait has returned, a pool dropped without Close leaves none after
//     its idle timeout.
//  12. Everything works inside a [testing/synctest] bubble, if the pool was made there, and is closed there. Pools share no state, except the
//     lists of [Pools] and [Groups], for which no goroutine waits.
//  13. A call that can never be right, such as a nil task or a limit below 1, panics
//     with a message that says what must hold. What can happen at run time is
//     an error for [errors.Is], such as [ErrClosed], [ErrFull] or the cause of a context, or for
//     [errors.AsType], such as [*TaskError] or [*RetryError].
//  14. Workers carry no profiler labels over from the goroutine that started them.
//  15. Under the race detector the library orders tasks only as promise 5 says. In addition, the end of one task synchronizes
//     before the start of the next at a constant limit of 1 (of a pool, a lane, a key, a group, an errgroup or a loop), and where the library itself
//     hands something on: the value of a [Stateful], an object of package reuse.
//     A call that waits, a stream over a sequence, and Range, Sort and SortFunc of package par may order more than that.
//
// # What is not promised
//
// A task that waits for room in its own full pool, or for its own pool to close,
// can block forever: use TrySubmit, an [Unbounded] queue, or a group there.
//
// Promise 9 depends on the context. A task that waits for a group made from any other
// context lends its place to nothing, and if all do so, they wait forever. The context
// belongs to its task: a goroutine that the task has started, and that waits with it, lends the
// place of the task, which runs on. However many such goroutines wait, the place is lent
// once, from the first wait to the end of the last; so one task more than the limit may run
// meanwhile. What such a goroutine calls by Do runs next to the task, in the same place.
//
// No rule ends a circular wait that the program makes itself:
//
//   - the holder of a lock waits for tasks that wait for the lock;
//   - the holder of a lock waits for pool q while other tasks of q wait for the lock;
//   - a function that a stream calls holds a lock across the yield of an inner sequence,
//     and the loop's body takes the lock;
//   - a goroutine of a task holds a lock over its wait, while another goroutine of the task waits
//     for tasks that take the lock;
//   - the members of a group wait for a signal which their owner sends after Wait, or after a
//     Go that finds no room: such a Go returns when a member has ended, or a place is free.
//
// Two settings of GODEBUG for old programs change what is promised: with panicnil=1 a panic with the
// value nil counts as [runtime.Goexit], and with asynctimerchan=1 a batch of package par may come too early.
//
// The zero values of Pool, FuncPool, FuncContext, Stateful, Keyed, Once, Group, Results, Future, Timer,
// Retrier and RateLimit are not usable.
package weir
