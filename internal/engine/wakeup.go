package engine

import "sync/atomic"

// Wakeup lets the engine of a task know that the task's wait is over, before its goroutine has run to say so
// itself. Until the goroutine does, the task does not count as one that waits where all do: what it holds may be
// what others need.
type Wakeup struct {
	// Stays says that the task waits for the one that it submits, if that starts out of turn.
	Stays bool

	engine *Engine
	state  atomic.Uint32
}

const (
	unnotified uint32 = iota
	notified
	used // the task goes on: nothing that comes later counts
)

// Wakeup returns one for a task of e that is about to wait, once.
func (e *Engine) Wakeup() *Wakeup { return &Wakeup{engine: e} }

// Notify says that the wait is over. The goroutine that ends the wait must call it before
// the task can learn of that in another way; on a nil Wakeup it does nothing.
func (w *Wakeup) Notify() {
	if w != nil && w.state.CompareAndSwap(unnotified, notified) {
		w.engine.awaken()
	}
}

// WaitsOn undoes a Notify, for a task that was notified and waits for something else with w.
func (e *Engine) WaitsOn(w *Wakeup) {
	if w.state.Load() != notified {
		return
	}
	e.mu.Lock()
	if w.state.CompareAndSwap(notified, unnotified) {
		e.subside()
	}
	e.unlock()
}

// awaken counts one task more that goes on, also in the engines above a lane.
func (e *Engine) awaken() {
	for ; e != nil; e = e.parent() {
		e.waking.Add(1)
	}
}

// subside undoes awaken, under the lock: now it may be that all tasks wait.
func (e *Engine) subside() {
	for ; e != nil; e = e.parent() {
		e.waking.Add(-1)
		e.touch()
	}
}
