package weir

import "github.com/64ed045f/weir/internal/engine"

// nested reports whether the group belongs to a task of its own pool.
func (g *Group) nested() bool { return g.at == g.pool }

// task returns the task whose context the group is made from; the zero task if there is none,
// or it is over.
func (g *Group) task() task {
	if g.host == nil {
		return task{}
	}
	return g.host.task()
}

// delegate hands a task of a nested group over, and waits until there is room.
func (b *batch) delegate(j job) {
	e := b.group.pool.core.engine
	for _, refused := range e.Delegate(b.subtasks, j.Task) {
		b.reject(job{refused}, ErrClosed)
	}
	b.accepted()
	if !e.Overfull(b.subtasks) {
		return
	}
	a := &engine.Waiter{Turn: make(chan struct{}, 1)}
	if !e.Crowded(b.subtasks, a, b.group.task().worker) {
		return
	}
	select {
	case <-a.Turn:
	case <-b.done():
		e.Recall(a, nil)
		<-a.Turn
	}
}
