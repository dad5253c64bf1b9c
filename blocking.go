package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
)

// Blocking calls wait, and gives the place of the task that ctx comes from to any other task
// meanwhile. It is for waits that the library cannot see, such as a sleep, a back-off, or a channel of the
// program's own. A wait for a group, a future, Do or Call does not need it, and lends nothing inside it.
//
// When wait has returned, panicked, or called [runtime.Goexit], the task waits for a place, unless another of its
// goroutines waits or is in Blocking: a free one, before queued tasks and in the order of return, or that of a task of the
// pool which waits for it. So the task must hold nothing over the call, such as a lock, that other tasks
// of the pool need to end: they may have all places, and wait for the lock for ever. The same holds for a goroutine outside
// the pool that waits for the task. A task of the same pool that waits for it may hold the lock. While other goroutines of the
// task still wait the task may have no place yet: then it must take no such lock either.
//
// If ctx is not that of a task, or the task is over, Blocking just calls wait; but the context of a group's task may pass
// to the group's next task on the same worker. A subtask whose place is lent by the task that waits for it
// gives the place back to that task.
func Blocking(ctx context.Context, wait func()) {
	mustContext(ctx != nil)
	must(wait != nil, "function must not be nil", "nil")
	t := hostOf(ctx)
	if t.pool == nil {
		wait()
		return
	}
	e := t.pool.core.engine
	a := &engine.Waiter[job]{Turn: make(chan struct{}, 1)}
	alone, part := t.host.awaited()
	t.pool.core.turns.End()
	e.GiveUp(a, t.worker, alone, part)
	defer func() {
		e.Recall(a, nil)
		<-a.Turn
		t.pool.core.turns.Begin()
	}()
	wait()
}
