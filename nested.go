package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// place is where a task runs. The zero place is no task's.
type place struct {
	pool  *Pool
	depth int // 1 for a task from outside, 2 for its subtasks, and so on
}

// hostKey is the key under which the context of a task holds its host.
type hostKey = inside.TaskKey

// host is the context of a task, under hostKey.
type host interface {
	inside.Task
	// place returns that of the task, or the zero place if the task is over.
	place() place
}

// hostOf returns the place of the task whose context ctx comes from. Of a task that
// runs inside another it is that of the inner one, the one that calls.
func hostOf(ctx context.Context) place {
	if h, ok := ctx.Value(hostKey{}).(host); ok {
		return h.place()
	}
	return place{}
}

// Aside implements [inside.Task].
func (s *scope) Aside() inside.Absence { return s.place().leave() }

func (s *scope) place() place {
	if s.batch.sealedOff() {
		return place{}
	}
	g := s.batch.group
	return place{g.pool, g.host.depth + 1}
}

// nested reports whether the group belongs to a task of its own pool.
func (g *Group) nested() bool { return g.host.pool == g.pool }

// delegate hands a task of a nested group over, and waits until there is room.
func (b *batch) delegate(j job) {
	e := b.group.pool.engine
	for _, refused := range e.Delegate(b.source, j) {
		b.reject(refused, ErrClosed)
	}
	b.accepted()
	if !e.Overfull(b.source) {
		return
	}
	a := b.group.host.newAbsence()
	if !e.Crowded(b.source, a) {
		return
	}
	select {
	case <-a.Turn:
	case <-b.scope.Done():
		e.Recall(a)
		<-a.Turn
	}
}

func (p place) newAbsence() *engine.Absence {
	return &engine.Absence{Turn: make(chan struct{}, 1), Depth: p.depth}
}

// aside calls wait, which blocks until others have done something. The task that
// calls, if one does, gives its place up meanwhile, and has it again even if wait panics.
func (p place) aside(wait func()) {
	if p.pool != nil {
		e, a := p.pool.engine, p.newAbsence()
		e.StepAside(a, nil) // nobody has recalled it yet
		defer func() {
			e.Recall(a)
			<-a.Turn
		}()
	}
	wait()
}

// leave returns the absence by which the task may leave its place, nil if p is no task's.
func (p place) leave() inside.Absence {
	if p.pool == nil {
		return nil
	}
	return absence{p.pool.engine, p.newAbsence()}
}

// absence is a wait that ends when somebody calls Wake.
type absence struct {
	engine *engine.Engine[job]
	*engine.Absence
}

func (a absence) Wake() { a.engine.Recall(a.Absence) }

func (a absence) Wait(done <-chan struct{}) {
	if !a.engine.StepAside(a.Absence, nil) {
		return
	}
	select {
	case <-a.Turn:
	case <-done:
		a.Wake()
		<-a.Turn
	}
}
