// Package programs draws whole programs for the library, runs them, and looks for those that hang.
//
// A program is a tree of tasks over three pools with small limits and short queues, and a Stateful.
// Goroutines outside hand tasks to each pool. A task computes, takes locks, hands over other tasks, on its
// own pool or another, and waits for them in every way that the library has: by groups, results, futures, Do,
// Hedge, Once, Call, loops and streams, also on several goroutines at once. It hands over tasks with keys, and tasks
// for later, once or again and again. Tasks hold locks while they wait, pools wait for each other in rings, groups are
// cancelled, contexts have deadlines, and tasks fail, are tried again, panic, exit and expire. Tasks use objects of a keeper, and buffers. Tasks also give up their
// places by Blocking, also while goroutines of theirs go on, and wait for whole pools. Pools are lanes with priorities and shares, as the Stateful may be, have rates, and are resized,
// paused, closed and shut down meanwhile, by tasks or from outside.
//
// The awaited pools of a wait are the pools on which the awaited work runs, and all pools to which tasks of
// these pools hand work. A task may hold a lock over a wait if the awaited work takes only later locks and
//
//   - either all of the awaited work runs on the task's own pool, and the task waits on one goroutine only
//     (the items of a loop without a pool run on several),
//   - or no task on an awaited pool takes that lock or an earlier one.
//
// A task in Blocking holds no lock. If another task holds a lock over it, the task in Blocking has no other
// goroutine.
//
// Async counts as a wait for the future's start, and tasks for later are not waited for. A task submits only to pools
// whose tasks cause no submission to the same pool. Such a program ends at every limit: on plain goroutines, which the
// tests check first, and on the library. There each task runs once, or never if it is cancelled, and each value comes from the right
// task. No pool runs more tasks than its limit allows, and in programs without Blocking no more begin. Tasks from outside
// have their turns, those of a key begin in order, and what a goroutine sees of pools, tasks and groups may be true.
// Nothing is left at the end.
//
// A program that the draw rarely finds is kept, made smaller, in testdata/known.json.
//
//	go test ./programs -v                        as many programs as a few seconds allow
//	go test ./programs -v -programs.for 10m      as many as ten minutes allow
//	go test ./programs -v -programs.seed 7 -programs.n 1 -programs.times 500   program 7, 500 times
//	go test ./programs -v -programs.json '{…}' -programs.times 500             a program that a failure has printed
package programs
