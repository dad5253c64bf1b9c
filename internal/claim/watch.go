package claim

import "sync/atomic"

// Watch is over a queued task: it waits for what would end the task, such as the end of a context. It is to end when
// the task has begun, or is over. The zero Watch waits for nothing.
type Watch struct{ stop atomic.Pointer[func() bool] }

// Begin begins the watch over the task with the State s, which stop ends. It is called once at most.
//
// A goroutine that begins or ends the task changes s, and then calls End. Begin does the opposite. So one of the two
// sees the other, or both do: stop may be called twice.
func (w *Watch) Begin(s *State, stop func() bool) {
	w.stop.Store(&stop)
	if !s.Queued() {
		stop()
	}
}

// End ends the watch, if it has begun. Each goroutine that begins or ends the task calls End afterwards.
func (w *Watch) End() {
	if stop := w.stop.Load(); stop != nil {
		(*stop)()
	}
}
