package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
)

// Blocking calls wait, and gives the place of the task that ctx comes from to any other task
// meanwhile. It is for waits that the library cannot see, such as a sleep, a back-off, or a channel
// of the program's own. A wait for a group, a future, Do or Call does not need it, and lends
// nothing inside it. Each task in Blocking keeps its goroutine: nothing but a [Limit] of its group
// bounds how many there are.
//
// When wait has returned, panicked, or called [runtime.Goexit], the task waits for a place, unless
// another of its goroutines waits or is in Blocking. Other tasks of the pool may have all places
// until they end: so the task must hold nothing over the call, such as a lock, that they need to
// end. The package documentation says more under Blocking.
//
// If ctx is not that of a task, or the task is over, Blocking just calls wait.
func Blocking(ctx context.Context, wait func()) {
	mustContext(ctx != nil)
	must(wait != nil, "function must not be nil", "nil")
	t := hostOf(ctx)
	if t.pool == nil {
		wait()
		return
	}
	e := t.pool.core.engine
	a := &engine.Waiter{Turn: make(chan struct{}, 1)}
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
