package weir

import (
	"cmp"
	"errors"
	"slices"

	"github.com/64ed045f/weir/internal/cause"
	"github.com/64ed045f/weir/internal/engine"
)

// wait blocks until the batch is over; the first caller ends the batch. With inTask
// the caller is a task, and the pool lends its place meanwhile. callers are those that wait, if they are noted.
func (b *batch) wait(inTask bool, callers []uintptr) {
	switch {
	case !b.waited.Take():
		b.waitForOther(inTask)
		return
	case b.subtasks != nil:
		b.waitInside(inTask, callers)
		b.stay.looper.Notify()
	case callers != nil:
		b.waitNoted(callers)
	default:
		b.waitOutside()
	}
	b.conclude()
}

// waitForOther waits until another goroutine has ended the batch.
func (b *batch) waitForOther(inTask bool) {
	b.mu.Lock()
	if b.settled {
		b.mu.Unlock()
		return
	}
	if b.others == nil {
		b.others = &others{over: make(chan struct{})}
	}
	o := b.others
	b.mu.Unlock()
	if !inTask || b.subtasks == nil {
		<-o.over
		return
	}
	b.group.needEngine()
	b.group.task().await(b.group.pool, b.subtasks.Want(), func(w *engine.Wakeup) {
		o.tasks.Add(w)
		<-o.over
	})
}

// waitNoted is waitOutside for callers that are noted.
func (b *batch) waitNoted(callers []uintptr) {
	if b.tally.Seal() {
		return
	}
	defer b.noteWait(callers)()
	b.waitOutside()
}

// waitOutside waits for the tasks of a group outside a task. If the group is cancelled, it waits only for the
// tasks that have started. The queued ones may stay in the queue for long, as other tasks may keep the
// workers of the pool busy.
func (b *batch) waitOutside() {
	if b.tally.Seal() {
		return // a second look would be wrong: a task that begins now finds the set sealed, and is still counted
	}
	switch {
	case b.group.direct != nil:
		b.retire()
	case !b.scope.lasts:
		b.waitOrEnd(b.parentDone())
		return
	}
	for !b.tally.Seal() {
		b.bell.Wait()
		if b.isCancelled() {
			b.giveUp(b.bell.Wait)
			return
		}
	}
}

// waitOrEnd is waitOutside for a group on a pool whose parent may end: done is closed then.
func (b *batch) waitOrEnd(done <-chan struct{}) {
	for !b.tally.Seal() {
		if !b.bell.WaitUntil(done) {
			done = nil
			b.cancel(causeOf(b.parent())) // its Done may be closed before it says so
		}
		if b.isCancelled() {
			b.giveUp(func() { b.bell.WaitUntil(nil) })
			return
		}
	}
}

// giveUp waits, by calls of wait, for the tasks of a cancelled group that have started. It is rare: see [Group.initInTask].
//
//go:noinline
func (b *batch) giveUp(wait func()) {
	if b.group.direct != nil {
		b.unretire()
	}
	b.tally.Close()
	for !b.finish() {
		wait()
	}
}

// parentDone is closed when the parent has ended, of which Wait of a group outside a task must learn.
func (b *batch) parentDone() <-chan struct{} {
	if std := b.scope.std.Load(); std != nil {
		return std.Done()
	}
	return quietly(b.parent().Done)
}

// finish ends the batch if none of its tasks runs.
func (b *batch) finish() (over bool) {
	if over, direct := b.finishDirectly(); direct {
		return over
	}
	e := b.group.pool.core.engine
	left := 0
	e.Discard(func() int {
		if left, over = b.tally.Finish(); over {
			b.counted = true
		}
		return left - int(b.gone)
	})
	switch {
	case !over:
		e.Suspect()
	case left > 0:
		b.release(left, nil)
	}
	return over
}

// isCounted reports whether Wait has counted j, a void task of the batch that has just left the queue, as still there.
func (b *batch) isCounted() bool {
	if b.subtasks == nil && !b.counted {
		b.gone++
		return false
	}
	return true
}

// waitInside waits for the tasks of a task's group.
func (b *batch) waitInside(inTask bool, callers []uintptr) {
	if inTask && b.atBell.Load() && b.waitAtBell(callers) {
		return
	}
	t := b.group.task() // first: the engine of a task is there when the task has a worker
	var done <-chan struct{}
	if !b.group.nested() {
		done = b.done()
	}
	cancelled := false
	if inTask {
		defer b.waitsIn(t)()
	} else {
		b.leaveBell()
		b.stay.task = task{}
	}
	switch {
	case done != nil:
	case b.stay.task.pool == nil:
		done = b.done() // no task looks again for it in a pause
	default:
		b.stay.waiter.Wait = true
	}
	if callers != nil {
		defer b.noteWait(callers)()
	}
	if b.group.hasWorkers() {
		b.group.pool.core.engine.Retire(&b.bell) // workers end that find nothing to do, and need no notification then
	}
	cut := func() {
		done, cancelled = nil, true
		b.cut()
	}
	for {
		if cancelled { // again, for a task that Go added since
			b.cut()
		}
		if b.tally.Seal() {
			break
		}
		if b.stay.looper.Look(&b.tally) {
			continue
		}
		b.stay.wait(done, b.done, cut)
		if b.tally.Seal() {
			break // most often; no wait follows, so the stay need not arrive
		}
		b.stay.arrive()
	}
}

// cut discards the tasks of a cancelled batch that have not started.
func (b *batch) cut() {
	if b.group.direct != nil && !b.group.hasWorkers() {
		return // those that wait begin, and end at once, when one ends that runs
	}
	if n := b.group.pool.core.engine.Drop(b.subtasks); n > 0 {
		b.release(n, nil)
		b.Ended(n, nil)
	}
}

// cause returns why the batch was cancelled, if it was.
func (b *batch) cause() error {
	if !b.stopped {
		return nil
	}
	return b.outer(b.scope.Cause())
}

// outer marks the cause of the cancellation if it is the error of another group's task.
func (b *batch) outer(why error) error {
	b.mu.Lock()
	own := b.own
	b.mu.Unlock()
	if own {
		return why
	}
	return cmp.Or(quietly(func() error { return cause.Mark[*TaskError](b.parent(), why) }), why)
}

// join adds the failures of a batch that keeps going to its result. The caller holds mu.
func (b *batch) join() {
	failures := b.failures()
	if len(failures) == 0 {
		return
	}
	slices.SortFunc(failures, func(x, y *TaskError) int { return cmp.Compare(x.Index, y.Index) })
	errs := make([]error, 0, len(failures)+1)
	for _, failure := range failures {
		errs = append(errs, failure)
	}
	b.err = errors.Join(append(errs, b.err)...)
}

// conclude makes the sealed batch's result, and gives it to all callers of Wait.
func (b *batch) conclude() {
	g := b.group
	why := b.scope.conclude()
	if b.wrong != nil || why != nil { // no task runs any more, so wrong does not change
		b.result(why)
	}
	if l := g.limit; l != nil {
		l.Forget() // the waiters' channels may belong to a test bubble that is about to end
	}
	g.forget(b)
	if g.hasWorkers() {
		g.dismiss()
	}
	b.mu.Lock()
	b.settled = true
	members, o := b.members, b.others
	b.members, b.spare = nil, nil
	b.mu.Unlock()
	members.dismiss()
	if o != nil {
		o.end()
	}
}

// result makes the result of a batch that has failed, or was cancelled because of why. It is rare, too.
//
//go:noinline
func (b *batch) result(why error) {
	if why != nil {
		why = b.outer(why)
	}
	b.mu.Lock()
	b.err, b.stopped = why, why != nil
	if b.wrong != nil {
		b.join()
	}
	b.mu.Unlock()
}

// end lets all of them know that the batch is settled. It is rare, too.
//
//go:noinline
func (o *others) end() {
	o.tasks.Notify()
	close(o.over)
}
