package engine

import (
	"sync"
	"sync/atomic"
)

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

// WaitsOn undoes a Notify, for a task that was notified and goes on waiting with w: for something else, with nil, or for the tasks of t. If all
// of these have ended, it undoes nothing.
func (w *Wakeup) WaitsOn(t *Tally) {
	if w.state.Load() != notified {
		return
	}
	e := w.engine
	e.mu.Lock()
	// It is what waking counts that matters, and only at the unlock. If another goroutine has notified w meanwhile, w counts twice.
	if w.state.CompareAndSwap(notified, unnotified) && (t == nil || !t.Over() || !w.state.CompareAndSwap(unnotified, notified)) {
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

// Wakeups are those of all tasks that wait for one end. The zero Wakeups has none.
type Wakeups struct {
	mu   sync.Mutex
	over bool
	all  map[*Wakeup]struct{}
}

// Add has w notified when the end comes, which may have been before. A nil Wakeup stands for no task.
func (l *Wakeups) Add(w *Wakeup) {
	if w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		w.Notify()
		return
	}
	if l.all == nil {
		l.all = map[*Wakeup]struct{}{}
	}
	l.all[w] = struct{}{}
}

// Remove undoes Add, for a task that does not wait any more.
func (l *Wakeups) Remove(w *Wakeup) {
	if w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, w)
}

// Notify says that the end has come. It is called before any of the tasks can learn that in another way.
func (l *Wakeups) Notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for w := range l.all {
		w.Notify()
	}
	l.all = nil
}

// Looper is where a task waits, next to the goroutine that waits for the end of a Tally: it goes on when that
// goroutine has ended what the Tally counts. The zero Looper has no such task.
//
// When all tasks have ended, the task that loops counts as going on at once. Another task may begin then, until the
// set is sealed. So a goroutine that says that the task goes on also notifies the one that waits, which looks afterwards.
type Looper struct{ wakeup atomic.Pointer[Wakeup] }

// Join says that the task waits from now on, with w. If it reports true, the caller must notify the goroutine that
// waits for the end.
func (l *Looper) Join(w *Wakeup, t *Tally) (tell bool) {
	l.wakeup.Store(w)
	if sealed := t.Sealed(); sealed || t.Over() {
		w.Notify()
		return !sealed
	}
	return false
}

// Notify says that the task goes on. It is called when the last task has ended, before the goroutine that waits for
// that is notified, and by that goroutine when it has sealed the set.
func (l *Looper) Notify() { l.wakeup.Load().Notify() }

// Look is called by the goroutine that waits, after a Seal that has failed. It says that the task goes on waiting,
// unless all tasks have ended meanwhile. Then it reports true, and another Seal must follow.
func (l *Looper) Look(t *Tally) (over bool) {
	w := l.wakeup.Load()
	if w == nil {
		return false
	}
	if !t.Over() {
		w.WaitsOn(t)
	}
	return t.Over()
}
