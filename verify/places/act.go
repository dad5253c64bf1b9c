package places

import (
	"iter"
	"slices"
)

// abandoned unwinds the coroutine of a task that never ends.
type abandoned struct{}

// step lets a task that runs go on to its next pause, to a wait or to its end.
func (w *world) step(t *task) {
	if t.next == nil {
		t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
			defer func() {
				if r := recover(); r != nil && r != (abandoned{}) {
					panic(r)
				}
			}()
			t.yield = yield
			for range max(t.Items, 1) {
				w.do(t, t.Actions)
				if t.Items > 0 {
					w.deliver(t, true)
				}
			}
		})
	}
	if _, more := t.next(); !more {
		w.end(t)
	}
}

// pause ends a step of the task: here other tasks may do theirs.
func (t *task) pause() {
	if !t.yield(struct{}{}) {
		panic(abandoned{})
	}
}

// block pauses a task while its own code blocks it. The library does not see that, so the task's place is not idle.
func (t *task) block(while func() bool) {
	t.blocked = while
	t.pause()
	t.blocked = nil
}

// do lets the task do actions.
func (w *world) do(t *task, actions []*Action) {
	for _, a := range actions {
		switch a.Kind {
		case Compute:
			t.pause()
		case Lock:
			t.block(func() bool { return w.locked[a.Number] })
			w.locked[a.Number] = true
			w.say(t, "locks")
			t.pause()
			w.do(t, a.Body)
			w.locked[a.Number] = false
			w.say(t, "unlocks")
		case Group, Stream:
			w.awaitGroup(t, a)
		case Async:
			w.handOver(a.Tasks[0], t, nil)
			t.pause()
		case Get:
			w.get(t, a)
		case Do:
			if a.Tasks[0].Pool == t.Pool {
				w.do(t, a.Tasks[0].Actions)
			} else {
				w.awaitGroup(t, a)
			}
		case Yield:
			w.deliver(t, false)
		case Signal:
			w.signals[a.Number] = true
		case Receive:
			t.block(func() bool { return !w.signals[a.Number] })
		}
	}
}

// awaitGroup hands members over, does the body as often as the mode says, and waits for the members' end.
// A wait whose context ends goes on until those members end that have begun.
func (w *world) awaitGroup(t *task, a *Action) {
	g := &group{}
	await := func(over func() bool) (alive bool) {
		w.wait(t, &wait{group: g, cancellable: a.Cancel, over: func() bool {
			return len(g.open) == 0 || !g.cancelled && !t.cancelled && over()
		}})
		return !g.cancelled && !t.cancelled
	}
	for i, member := range a.Tasks {
		if i > 0 {
			t.pause()
		}
		if a.Limit > 0 && !await(func() bool { return len(g.open) < a.Limit }) {
			break
		}
		w.handOver(member, t, g)
	}
	for range a.rounds() {
		if !await(func() bool { return g.arrived > g.taken }) {
			break
		}
		g.taken++
		w.do(t, a.Body)
	}
	await(func() bool { return false })
}

// get waits for a future, or for the end of the wait's context.
func (w *world) get(t *task, a *Action) {
	future := t.futures[a.Number]
	wait := &wait{future: future, cancellable: a.Cancel}
	wait.over = func() bool { return future.state == ended || wait.cancelled || t.cancelled }
	w.wait(t, wait)
}

// wait makes the task wait, unless the wait is over already.
func (w *world) wait(t *task, wait *wait) {
	if wait.over() {
		return
	}
	w.say(t, "waits")
	t.state, t.wait = waiting, wait
	t.pause()
}

// deliver hands an item to the owner of the helper's stream. Between two items, when none of the user's code is on
// its stack, the helper hands its place over, too, if the owner waits for the item and has lent its own place.
func (w *world) deliver(t *task, between bool) {
	w.say(t, "delivers")
	t.group.arrived++
	var left *place
	owner := t.parent
	if between && owner.pool == t.pool && owner.state == waiting && owner.wait.over() && owner.place.top() != owner {
		left = t.place
		left.remove(t)
		t.state = queued
		helpers := len(slices.DeleteFunc(slices.Clone(t.pool.queue), func(u *task) bool { return !u.begun }))
		t.pool.queue = slices.Insert(t.pool.queue, helpers, t)
	}
	w.wake(left)
	t.pause()
}

// end ends the task, and so the waits that were for it.
func (w *world) end(t *task) {
	w.say(t, "ends")
	left := t.place
	left.remove(t)
	t.close()
	w.wake(left)
}

// close marks the task as ended, and takes it out of its group.
func (t *task) close() {
	t.state = ended
	if g := t.group; g != nil {
		g.open = slices.DeleteFunc(g.open, func(m *task) bool { return m == t })
		if t.Items == 0 {
			g.arrived++
		}
	}
}

// cancelWait ends the context of a wait, and those of the members that it is for.
func (w *world) cancelWait(t *task) {
	w.say(t, "is cancelled in its wait")
	t.wait.cancelled = true
	if g := t.wait.group; g != nil {
		g.cancelled = true
		for _, m := range slices.Clone(g.open) {
			w.cancel(m)
		}
	}
	w.wake(nil)
}

// cancel ends the context of a task, and those below it. A task that has not begun is dropped.
func (w *world) cancel(t *task) {
	if t.cancelled || t.state == ended {
		return
	}
	t.cancelled = true
	if !t.begun {
		t.pool.queue = slices.DeleteFunc(t.pool.queue, func(u *task) bool { return u == t })
		t.close()
	}
	for _, u := range w.tasks {
		if u.parent == t {
			w.cancel(u)
		}
	}
}
