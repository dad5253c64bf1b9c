package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
)

// Blocking calls wait, and gives the place of the task that ctx comes from to any other task
// meanwhile: for waits that the library cannot see, such as a sleep, a back-off, or a channel of the
// program's own. A wait for a group, a future, Do or Call with the task's context needs it not: that lends the
// place to what is waited for, and to nothing else (promise 9). The [Limit] of a group counts the task all the while.
//
// When wait has returned, panicked, or called [runtime.Goexit], Blocking waits until there is a place
// for the task: a free one, before queued tasks and in the order of return, or that of a task of the pool which waits for
// it. If a task that has nothing to do with this wait has got that place, Blocking takes an extra one at once: see
// promise 9. If another goroutine of the task waits, or is in Blocking, the call returns at
// once.
//
// It is the one case in which a task waits for a place. So nobody may hold over the call what other tasks of the pool
// need to end, such as a lock: they may have all places then, and wait for it for ever. That holds for the task, and for
// those outside the pool that wait for it; a task of the same pool that waits for it may hold a lock, as its place is there for
// this one.
//
// If ctx is not that of a task, or the task is over, Blocking just calls wait. While other
// goroutines of the task wait with its context, the place stays with what they wait for. A subtask
// whose place was lent by the task that waits for it gives it back to that, which lends it to nothing
// for which it does not wait.
func Blocking(ctx context.Context, wait func()) {
	mustContext(ctx != nil)
	must(wait != nil, "function must not be nil", "nil")
	t := hostOf(ctx)
	if t.pool == nil {
		wait()
		return
	}
	e := t.pool.engine
	a := &engine.Absence[job]{Turn: make(chan struct{}, 1)}
	e.GiveUp(a, t.worker, t.host.alone())
	defer func() {
		e.Recall(a, nil)
		<-a.Turn
	}()
	wait()
}
