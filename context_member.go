package weir

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/claim"
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// member is the context of a task of a group. A caller that asks it for hostKey learns which task will wait.
//
// Tasks of a batch that run on one worker, one after another, share a member: an allocation for
// each would cost as much as the task. So a goroutine that a task has left behind, and that waits
// with its context, may wait in the name of the next one.
type member struct {
	*scope
	tenant engine.Tenant
	worker atomic.Pointer[engine.Worker] // that has the member, or was the last to have it
	job    job                           // the one under way, if the worker has only its ticket
	next   *member                       // in batch.members
	spare  *member                       // in batch.spare

	direct bool         // its task has begun on no worker: see the type direct
	fate   claim.First  // of that task, which ends as a direct one unless it is adopted before
	bells  atomic.Int32 // how many goroutines of it wait at bells
	acting *member      // under the race detector: the task has that one
	of     *member      // of which this one is acting
}

// Value implements [context.Context].
func (m *member) Value(key any) any {
	switch key {
	case hostKey{}:
		m.seen()
		return m
	case labelKey{}:
		return m.label()
	}
	return m.scope.Value(key)
}

// Stay implements [inside.Task].
func (m *member) Stay(group, feeder any) inside.Stay { return m.task().stay(group, feeder) }

// task implements host.
func (m *member) task() task {
	w := m.worker.Load()
	if w == nil {
		if w = m.adopt(); w == nil {
			return task{}
		}
	}
	if m.batch.tally.Sealed() || w.Tenant.Load() != &m.tenant {
		return task{}
	}
	return task{m.batch.group.pool, w, m}
}

// awaited implements host.
func (m *member) awaited() (*engine.Single, *engine.Subtasks) { return nil, m.batch.subtasks }

// across implements host.
func (m *member) across() *across {
	g := m.batch.group
	if !g.crossed {
		return nil
	}
	return g.others.get(g.pool, g.host, g.at)
}

// above implements host.
func (m *member) above() (host, *engine.Want) {
	if m.batch.subtasks == nil {
		return nil, nil
	}
	return m.batch.group.host, m.batch.subtasks.Want()
}

// member returns the context for a task of the batch on worker w.
func (b *batch) member(w *engine.Worker) *member {
	old := w.Tenant.Load()
	if old != nil {
		if m, ok := old.Self.(*member); ok && m.scope == &b.scope {
			return m
		}
	}
	m := b.newMember(w)
	if w.SetTenant(&m.tenant) {
		b.scope.cancel(ErrClosed)
	}
	if old != nil {
		old.Self.(*member).vacate()
	}
	return m
}

// newMember takes one that no worker has, or makes one.
func (b *batch) newMember(w *engine.Worker) *member {
	b.mu.Lock()
	m := b.spare
	if m != nil {
		b.spare, m.spare = m.spare, nil
	} else {
		if m = &b.first; b.members != nil || m.direct {
			m = new(member)
		}
		m.scope, m.next = &b.scope, b.members
		m.tenant.Self = m
		b.members = m
	}
	b.mu.Unlock()
	m.worker.Store(w)
	return m
}

// vacate gives back a member that a worker has had.
func (m *member) vacate() {
	b := m.batch
	b.mu.Lock()
	m.spare, b.spare = b.spare, m
	b.mu.Unlock()
}

// dismiss lets the workers forget the members, from m on, of a batch that has ended.
func (m *member) dismiss() {
	for ; m != nil; m = m.next {
		if w := m.worker.Load(); w != nil {
			w.Forget(&m.tenant)
		}
	}
}
