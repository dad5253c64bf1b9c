package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// What context a task gets:
//
//   - a task of a group, a member (context_member.go), which has what all tasks of the batch share from the scope
//     (context_scope.go): a context that the first error cancels;
//   - a task of Async or [Once.Do], an errandTask (context_errand.go), which is the context that Async was given, or one that Do has made;
//   - a task of [Pool.Go], a goTask (context_go.go), which ends with the task, and when the pool is shut down;
//   - a function of Do, a visit (do.go), which is the context that Do was given.
//
// Each of them is a host: a call that waits with the context, or with one made from it, finds the task by the host.

// task is a task that has begun: a worker of the pool runs it.
type task struct {
	pool   *Pool
	worker *engine.Worker
	host   host
}

// hostKey is the key under which the context of a task holds its host.
type hostKey = inside.TaskKey

// host is the context of a task, under hostKey.
type host interface {
	inside.Task
	// task returns the task, or the zero task if that is over.
	task() task
	// above returns the task that waits for this one, or will, and what it waits for; nil if none is known.
	above() (host, *engine.Want)
	// awaited returns what the waiters for this task wait for: it alone, or a group's tasks; nil if none can wait for it.
	awaited() (alone *engine.Single, part *engine.Subtasks)
	// crossed reports whether a task above may be one of another pool.
	crossed() bool
}

// nearest returns the worker of the nearest task of p that waits for t, and the wants on the way to it.
func (t task) nearest(p *Pool) (w *engine.Worker, via []*engine.Want) {
	for h := t.host; ; {
		above, want := h.above()
		if above == nil {
			return nil, nil
		}
		via = append(via, want)
		switch at := above.task(); at.pool {
		case nil:
			return nil, nil
		case p:
			return at.worker, via
		}
		h = above
	}
}

// notifyAbove makes the tasks of other pools that wait for t look for work that t waits for: t has just begun
// to wait.
func (t task) notifyAbove() {
	if t.host == nil || !t.host.crossed() {
		return
	}
	for h := t.host; h != nil; {
		above, _ := h.above()
		if above == nil {
			return
		}
		at := above.task()
		if at.pool != nil && at.pool != t.pool {
			at.pool.core.engine.Look(at.worker)
		}
		h = above
	}
}

// hostOf returns the task whose context ctx comes from, the zero task if there is none. If a task
// runs inside another, hostOf returns the inner one, the one that calls.
func hostOf(ctx context.Context) task {
	if h, ok := ctx.Value(hostKey{}).(host); ok {
		return h.task()
	}
	return task{}
}

// hostPool returns the pool on which that task runs, or ran.
func hostPool(ctx context.Context) (host, *Pool) {
	h, ok := ctx.Value(hostKey{}).(host)
	if !ok {
		return nil, nil
	}
	t := h.task()
	if t.pool == nil {
		return nil, nil
	}
	return h, t.pool
}
