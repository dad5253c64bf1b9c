package weir

import (
	"cmp"
	"context"
	"sync/atomic"

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
	// across lists the nearest task of each other pool above this one.
	across() *across
}

// across lists, for a task, the nearest task above it of each other pool, the nearest one first. Tasks of groups with
// workers of their own are not in it.
type across struct {
	host host
	pool *Pool
	next *across
}

// crossings is what crossing returns, found when it is first asked for: else each task of a deep nest would go through all of those above it.
type crossings struct{ list atomic.Pointer[across] }

func (c *crossings) get(p *Pool, h host, at *Pool) *across {
	list := c.list.Load()
	if list == nil {
		if list = crossing(p, h, at); list == nil {
			list = noneAcross
		}
		c.list.Store(list)
	}
	if list == noneAcross {
		return nil
	}
	return list
}

// noneAcross is an empty list that was made.
var noneAcross = new(across)

// crossing returns across for a task of pool p, or of a group with workers of its own, whose host is h, of pool at.
func crossing(p *Pool, h host, at *Pool) *across {
	list := h.across()
	if at == p {
		return list
	}
	list = list.without(p)
	if m, ok := h.(*member); ok && m.batch.group.direct != nil {
		return list
	}
	return &across{h, at, list}
}

// without returns a list that lacks p.
func (a *across) without(p *Pool) *across {
	if a.find(p) == nil {
		return a
	}
	if a.pool == p {
		return a.next
	}
	return &across{a.host, a.pool, a.next.without(p)}
}

// find returns the host of p, or nil.
func (a *across) find(p *Pool) host {
	for ; a != nil; a = a.next {
		if a.pool == p {
			return a.host
		}
	}
	return nil
}

// findKin returns the nearest host of a pool of the family of e, or nil.
func (a *across) findKin(e *engine.Engine) host {
	for ; a != nil; a = a.next {
		if a.pool.core.engine.IsKin(e) {
			return a.host
		}
	}
	return nil
}

// nearest returns the worker of the nearest task that waits for t and may lend its place to what t waits for on p, and the wants
// on the way to it. It is a task of p, or of any of p and its lanes if t has a place in none of them that it could lend itself.
func (t task) nearest(p *Pool) (w *engine.Worker, via []*engine.Want) {
	all := t.host.across()
	last := all.find(p)
	if of := p.core.engine; all != nil && !of.IsKin(t.pool.core.engine) {
		last = all.findKin(of)
	}
	if last == nil {
		return nil, nil
	}
	for h := t.host; h != last; {
		above, want := h.above()
		if above == nil || above.task().pool == nil {
			return nil, nil
		}
		via = append(via, want)
		h = above
	}
	return last.task().worker, via
}

// notifyAbove makes the tasks of other pools that wait for t look for work that t waits for: t has just begun
// to wait. Such work has the nearest task of its pool for a host.
func (t task) notifyAbove() {
	if t.host == nil {
		return
	}
	for a := t.host.across(); a != nil; a = a.next {
		if at := a.host.task(); at.pool != nil {
			at.pool.core.engine.Look(at.worker)
		}
	}
}

// causeOf returns the cause of a context whose Done is closed. It is never nil, even if a context of the
// program's own type does not report its error yet, or panics: callers are in the middle of what must come to its end.
func causeOf(ctx context.Context) error {
	return cmp.Or(quietly(func() error { return context.Cause(ctx) }), context.Canceled)
}

// errOf is ctx.Err() for callers in the middle of what must come to its end: a context whose method panics has not ended.
func errOf(ctx context.Context) error { return quietly(ctx.Err) }

// quietly returns what ask returns, which asks a context. If a method of that panics, the answer is the zero value.
func quietly[R any](ask func() R) (answer R) {
	defer func() { _ = recover() }()
	return ask()
}

// hostOf returns the task whose context ctx comes from, the zero task if there is none. If a task
// runs inside another, hostOf returns the inner one, the one that calls.
func hostOf(ctx context.Context) task {
	if h, ok := ctx.Value(hostKey{}).(host); ok {
		return h.task()
	}
	return task{}
}

// hostPool returns the pool on which that task runs. If mayBeDirect, a direct task stays one.
func hostPool(ctx context.Context, mayBeDirect bool) (host, *Pool) {
	h, ok := ctx.Value(hostKey{}).(host)
	if !ok {
		return nil, nil
	}
	if m, ok := h.(*member); ok && mayBeDirect && m.isDirect() {
		return h, m.batch.group.pool
	}
	t := h.task()
	if t.pool == nil {
		return nil, nil
	}
	return h, t.pool
}
