package engine

import "sync/atomic"

// Wakeup lets the engine know that the wait of a task is over before the task's goroutine has run to say so
// itself. Until that goroutine runs, the engine does not count the task as waiting when it asks whether all
// tasks wait: what the task holds may be what others need.
type Wakeup struct {
	// Stays says that the task goes on waiting for the task that it submits, if that starts out of turn.
	Stays bool

	engine *Engine
	state  atomic.Uint32
}

const (
	unnotified uint32 = iota
	notified
	used // the task goes on: later calls of Notify have no effect
)

// Wakeup returns a Wakeup for one wait of a task of e, which is about to begin.
func (e *Engine) Wakeup() *Wakeup { return &Wakeup{engine: e} }

// Notify says that the wait is over. The goroutine that ends the wait must call it before the task can learn
// in another way that the wait is over. On a nil Wakeup it does nothing.
func (w *Wakeup) Notify() {
	if w != nil && w.state.CompareAndSwap(unnotified, notified) {
		w.engine.awaken()
	}
}

// WaitsOn undoes a Notify, for a task that was notified and goes on waiting, for something else, with w.
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

// awaken counts one more task that goes on, in e and in the engines above it.
func (e *Engine) awaken() {
	for ; e != nil; e = e.parent() {
		e.waking.Add(1)
	}
}

// subside undoes awaken, under the lock. All tasks may wait now, so unlock looks at these engines.
func (e *Engine) subside() {
	for ; e != nil; e = e.parent() {
		e.waking.Add(-1)
		e.touch()
	}
}
