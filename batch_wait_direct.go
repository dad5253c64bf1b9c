package weir

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// A direct task that makes a NewGroup from its context, and waits for it, stays one. It waits at the bell of the batch, as a goroutine outside
// tasks does, and not in an engine, which could lend its place.
//
// Invariant: a task waits at a bell only while neither its own group nor the one that it waits for has an engine, and no task is there to which its place
// would be lent. That would be a task of its own group that waits for the end of another one, if a task above waits for the group. When one of the two
// groups gets its engine, makeEngine rings. The task then gets a worker, and waits as if it had only now called Wait.

// isDirect reports whether the task of m is a direct one that may stay so. It is hidden from the race detector like adopt.
//
//go:norace
func (m *member) isDirect() (direct bool) {
	host := m.self()
	if host.direct {
		race.Unseen(func() { direct = !host.fate.Taken() && m.batch.group.direct.on.Load() })
	}
	return direct
}

// self returns the member that the goroutine of the task has. It is hidden from the race detector, too.
//
//go:norace
func (m *member) self() *member {
	if m.of != nil {
		return m.of
	}
	return m
}

// hostEngine returns the engine on which the task runs in which the group was made. It is nil if there is none, or if that task has ended as a direct one. It is
// hidden from the race detector, too.
//
//go:norace
func (g *Group) hostEngine() *engine.Engine {
	if g.at == nil {
		return nil
	}
	if m, ok := g.host.(*member); ok && m.batch.group.direct != nil {
		host := m.batch.group
		race.Unseen(host.mu.Lock)
		e := host.pool.core.engine
		race.Unseen(host.mu.Unlock)
		return e
	}
	return g.at.core.engine
}

// waitAtBell waits for the end of the batch as long as neither group has an engine. It reports whether the batch is over.
func (b *batch) waitAtBell(callers []uintptr) (over bool) {
	if b.tally.Seal() {
		return true
	}
	own, m := b.group, b.group.host.(*member)
	host := m.batch.group
	if !race.Apart(func() bool { return host.waitsFor(b, m.self()) }) {
		return false
	}
	defer apart(func() { host.waitsNoMore(b, m.self()) })
	if callers != nil {
		defer b.noteWait(callers)()
	}
	if race.Enabled && m.isDirect() {
		host.pool.core.turns.End()
		defer host.pool.core.turns.Begin()
	}
	for own.direct.on.Load() && host.direct.on.Load() {
		if b.tally.Seal() {
			return true
		}
		b.bell.Wait()
	}
	return false
}

// waitsFor notes that the task of m, which is of the group, waits at the bell of b. It reports false if another task of the group may need its place: see placeWanted.
func (g *Group) waitsFor(b *batch, m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.placeWanted() {
		return false
	}
	g.direct.waiters.Append(&b.stay.atBell, b)
	m.bells.Add(1)
	return true
}

func (g *Group) waitsNoMore(b *batch, m *member) {
	g.mu.Lock()
	m.bells.Add(-1)
	g.direct.waiters.Remove(&b.stay.atBell)
	g.mu.Unlock()
}

// placeWanted reports whether a task waits for which a task above waits. It gets the place of one that waits, when all tasks of the group do.
func (g *Group) placeWanted() bool {
	b := g.batch.Load()
	return g.at != nil && b != nil && b.tally.IsWaitedFor()
}

// queued is called when a task waits for the end of another one.
func (g *Group) queued() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.direct.waiters.First() != nil && g.placeWanted() && g.direct.on.Load() {
		g.makeEngine()
	}
}

// ringBells is called when the group has got an engine. The caller holds mu.
func (g *Group) ringBells() {
	for l := g.direct.waiters.First(); l != nil; l = l.Next() {
		l.Of().bell.Ring()
	}
	if b := g.batch.Load(); b != nil && b.atBell.Load() {
		b.bell.Ring()
	}
}

// leaveBell ends the use of the bell by a batch whose task has a worker, or is over.
func (b *batch) leaveBell() {
	if !b.atBell.Load() {
		return
	}
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.atBell.Load() {
		b.stay.init(g.hostEngine())
		b.atBell.Store(false)
	}
}
