package engine

// Absence is a task's wait, during which it has given its permit up. One Absence
// serves one wait at a time.
type Absence struct {
	Turn  chan struct{} // of capacity 1: whoever stepped aside may go on when it receives
	Depth int           // of the task: how many tasks it lies below
	state presence      // under Engine.mu
}

type presence uint8

const (
	present  presence = iota
	early             // recalled before it stepped aside
	away              // without a permit
	outside           // no task: it had no permit, and gets none
	recalled          // has its turn, or is in Engine.returning
)

// Crowded reports whether s is overfull. If so a has stepped aside until it has room.
func (e *Engine[T]) Crowded(s *Source[T], a *Absence) bool {
	e.mu.Lock()
	if !e.Overfull(s) {
		e.mu.Unlock()
		return false
	}
	s.crowded = append(s.crowded, a)
	e.stepAside(a, s)
	return true
}

// Held reports whether tasks of s are open that no worker may start now, because the
// engine is paused or its limit was lowered.
func (e *Engine[T]) Held(s *Source[T]) bool {
	if s.open.Load() == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.halted()
}

// StepAside gives up the permit of a task that is about to wait: for all tasks of s,
// if that is not nil. They have the first use of it. It reports false, and the
// task still has its permit, if it was recalled since it last arrived.
func (e *Engine[T]) StepAside(a *Absence, s *Source[T]) bool {
	e.mu.Lock()
	if a.state == early {
		a.state = present
		e.mu.Unlock()
		return false
	}
	if s != nil {
		s.lender = a
	}
	e.stepAside(a, s)
	return true
}

// StayOutside is StepAside for who waits but is no task: it has no permit to give up,
// and needs none to go on.
func (e *Engine[T]) StayOutside(a *Absence) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.state == early {
		a.state = present
		return false
	}
	a.state = outside
	return true
}

// stepAside gives the lock back.
func (e *Engine[T]) stepAside(a *Absence, s *Source[T]) {
	a.state = away
	e.aside++
	e.spare = max(e.spare, e.aside)
	if s != nil && !e.halted() {
		if task, ok := s.claim(); ok {
			e.lend(task, s)
			return
		}
	}
	e.leave(false)
	e.unlock()
}

// lend gives the permit of a task that steps aside to a worker, which begins with
// task and then serves s. It gives the lock back.
func (e *Engine[T]) lend(task T, s *Source[T]) {
	w := e.recruit()
	w.hand, w.source = task, s
	w.free.Store(false)
	parked := w.parked
	if parked != nil {
		parked <- orderRun
	}
	if len(s.crowded) > 0 || s.open.Load() == 0 {
		e.eased(s)
		e.unlock()
	} else {
		e.mu.Unlock()
	}
	if parked == nil {
		go e.work(w, orderRun)
	}
}

// Recall makes a task go on that has stepped aside: as soon as there is a permit
// for it, and before any further task starts, but for those of sources that
// are being served.
func (e *Engine[T]) Recall(a *Absence) {
	e.mu.Lock()
	e.recall(a)
	e.unlock()
}

func (e *Engine[T]) recall(a *Absence) {
	switch a.state {
	case present:
		a.state = early
	case away:
		a.state = recalled
		e.enlist(a)
	case outside:
		a.state = recalled
		a.Turn <- struct{}{}
	case early, recalled:
	}
}

// recallLender makes the task go on that waits for the open tasks of s, which nobody serves: if
// its group was cancelled, nobody else may come to strike them off, as in a pause.
func (e *Engine[T]) recallLender(s *Source[T]) {
	if s.lender != nil && s.open.Load() > 0 {
		e.recall(s.lender)
	}
}

// enlist makes a stand behind those of its depth. Deeper ones go first: others may
// wait for them, and who came up before them would begin more that waits.
func (e *Engine[T]) enlist(a *Absence) {
	e.returning = append(e.returning, a)
	for i := len(e.returning) - 1; i > 0 && e.returning[i-1].Depth < a.Depth; i-- {
		e.returning[i-1], e.returning[i] = a, e.returning[i-1]
	}
}

// Arrived must be called before a task that has had its turn steps aside again.
func (e *Engine[T]) Arrived(a *Absence) {
	e.mu.Lock()
	a.state = present
	e.mu.Unlock()
}

// admit gives permits to tasks that were recalled. They have started long
// ago: a pause does not hold them.
func (e *Engine[T]) admit() {
	if len(e.returning) == 0 {
		return
	}
	for len(e.returning) > 0 && (e.debt > 0 || e.permits.tryReturn(e.limit)) {
		if e.debt > 0 {
			e.debt--
		}
		e.returning[0].Turn <- struct{}{}
		e.returning[0] = nil
		e.returning = e.returning[1:]
		e.aside--
	}
	if len(e.returning) == 0 {
		e.returning = nil
	}
}

// leave gives a permit back, and the searching token with it. There may be none: a
// goroutine that is no task, but waits with a task's context, has then given up
// that of a task. Whoever comes back next needs none for it.
//
// Invariant: the permits taken are those of active workers, less those that such
// goroutines have given up, plus debt.
func (e *Engine[T]) leave(searching bool) {
	if e.permits.active() > 0 {
		e.permits.leave(searching)
		return
	}
	e.debt++
	if searching {
		e.permits.endSearch()
	}
}

// handBack gives the permit of w, which has found no further task in s, to the task
// that waits for all of s, if w has run the last of them. Engine.mu is held, and
// is given up meanwhile.
func (e *Engine[T]) handBack(w *worker[T], s *Source[T]) bool {
	a := s.lender
	if a == nil || a.state != away || w.ledger == nil || !w.ledger.Last(w.ended) {
		return false
	}
	a.state = recalled
	e.aside--
	e.mu.Unlock()
	w.release() // and tells that all tasks of s are over
	a.Turn <- struct{}{}
	w.makePlace()
	e.mu.Lock()
	return true
}
