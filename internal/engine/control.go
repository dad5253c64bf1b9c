package engine

import (
	"runtime"
	"slices"
)

// Start starts n workers, or as many as the limit still allows.
func (e *Engine) Start(n int) {
	e.mu.Lock()
	for range n {
		if !e.permits.tryAcquire() {
			break
		}
		e.send(e.addWorker(), orderTake, nil)
	}
	e.unlock()
}

// Enter acquires a permit for each of n tasks that have begun outside the engine, even beyond the limit.
func (e *Engine) Enter(n int) {
	e.mu.Lock()
	for range n {
		e.permits.acquire()
	}
	e.unlock()
}

// Leave releases the permit of a task of Enter that is over.
func (e *Engine) Leave() {
	e.mu.Lock()
	e.permits.release(false)
	e.unlock()
}

// Adopt makes a worker of the goroutine of a task of Enter. When the task is over, that goroutine, or another
// one in its place, must call GoOn instead of Leave.
func (e *Engine) Adopt() *Worker {
	e.mu.Lock()
	e.delegated.Add(1)
	w := e.addWorker()
	w.free.Store(false)
	e.unlock()
	return w
}

// GoOn runs tasks on an adopted worker until the worker ends.
func (w *Worker) GoOn() {
	w.order = orderTake
	w.work()
}

// Resize sets the limit to n. Once it has returned, no worker takes a task while n or more run. Resize does
// not wait for tasks that run.
func (e *Engine) Resize(n int) {
	e.mu.Lock()
	e.limit = n
	if !e.paused {
		e.permits.allow(min(n, maxAllowed))
	}
	e.spare = e.lent
	for excess := e.idleExcess(); excess > 0; excess = e.idleExcess() {
		e.quitIdle(min(excess, quitsAtOnce))
		if excess <= quitsAtOnce {
			break
		}
		e.regateLanes()
		e.unlock()
		e.mu.Lock()
	}
	e.regateLanes()
	e.unlock()
}

// idleExcess is how many idle workers exceed the limit.
func (e *Engine) idleExcess() int { return min(e.excess(), len(e.idle)) }

// Pause stops workers from taking tasks, until Resume or Close. It reports whether it did so: a closed engine
// does not pause.
func (e *Engine) Pause() (done bool) {
	e.mu.Lock()
	if done = !e.closed; done {
		e.stopLocked()
		if e.lane != nil {
			e.hold()
		}
		e.stops()
	}
	e.unlock()
	return done
}

// stopLocked makes workers take no task, until startLocked.
func (e *Engine) stopLocked() {
	e.paused = true
	e.permits.allow(0)
	e.regateLanes()
}

// Resume undoes Pause. It does nothing once Shutdown hands tasks back: no worker takes one behind those.
func (e *Engine) Resume() {
	e.mu.Lock()
	if !e.closed || !e.abandoned.Load() {
		e.resumeLocked()
	}
	e.unlock()
}

func (e *Engine) resumeLocked() {
	if !e.paused {
		return
	}
	if e.lane != nil {
		e.letGo()
	}
	e.startLocked()
}

func (e *Engine) startLocked() {
	e.paused = false
	e.permits.allow(min(e.limit, maxAllowed))
	e.refill()
	if e.hasUnused() { // tasks of the engines above may wait for work of e; a lane that has a permit and does not bid yet offers it when it does
		e.offerAgain(e)
	}
}

// stops makes each task look again that waits for subtasks which do not begin in a pause.
func (e *Engine) stops() {
	for _, s := range e.subtasks {
		e.recallWaiter(s)
	}
	if e.lanes != nil {
		for _, l := range e.lanes.working {
			l.stops()
		}
	}
}

// refill lends places to the work that could not begin in a pause.
func (e *Engine) refill() {
	var vacant []*Worker // copied first: lending one place may let another task go on
	for l := e.vacant.First(); l != nil; l = l.Next() {
		vacant = append(vacant, l.Of())
	}
	var lent []*Worker
	for _, w := range e.workers {
		if p := w.place; p != nil && p.strange && p.beneath != nil {
			lent = append(lent, p.beneath)
		}
	}
	for _, w := range vacant {
		e.fill(w)
	}
	for _, w := range lent {
		e.evict(w)
	}
	if e.lanes == nil {
		return
	}
	for _, l := range slices.Clone(e.lanes.working) {
		l.refill()
		l.touch()
	}
}

// Close stops accepting tasks, lets all accepted tasks run, and returns when the last worker has ended.
func (e *Engine) Close() { <-e.shut() }

// Shutdown is Close until done is closed. Then it removes from the queue the tasks that no worker has
// started, and returns them at once. If done was closed before the call, Shutdown does not end a pause, so
// none of these tasks starts.
func (e *Engine) Shutdown(done <-chan struct{}) (unrun []Task, finished bool) {
	select {
	case <-done:
		e.abandoned.Store(true)
	default:
	}
	over := e.shut()
	select {
	case <-over:
		return nil, true
	case <-done:
	}
	e.abandoned.Store(true)
	e.mu.Lock()
	stops := !e.paused && e.queue.len() > 0
	if stops { // no worker takes a task behind one that is handed back
		e.stopLocked()
		e.regate()
	}
	unrun = slices.Grow(unrun, e.queue.len())
	for {
		task, _, ok := e.claim()
		if !ok {
			task, _, ok = e.queue.pop()
		}
		if ok {
			if e.Void != nil && e.Void(task) {
				e.gone(task)
			} else {
				unrun = append(unrun, task)
				e.handedBack++
			}
			continue
		}
		if e.queue.len() == 0 {
			break
		}
		// A submitter has taken a slot but has not finished writing its task.
		e.mu.Unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
	if stops {
		e.startLocked()
	}
	e.unlock()
	select {
	case <-over:
		return unrun, len(unrun) == 0
	default:
		return unrun, false
	}
}

// shut closes the engine, and returns a channel that is closed when the last worker has ended.
func (e *Engine) shut() <-chan struct{} {
	e.mu.Lock()
	e.shutLocked()
	over := e.finished
	e.unlock()
	return over
}

func (e *Engine) shutLocked() {
	if e.closed {
		return
	}
	e.closed = true
	e.foresee()
	e.regate() // from here on no task is accepted
	e.finished = make(chan struct{})
	if !e.abandoned.Load() {
		e.resumeLocked()
	}
	for s := e.submitters.first(); s != nil; s = e.submitters.first() {
		e.refuse(s, Closed)
	}
	e.shutLanes()
}

// Dismiss ends the workers of an engine that has nothing to do, and returns when no worker is left. The
// engine stays open. A goroutine that begins to use the engine again first makes inUse report so, and then
// calls Revive, which ends the dismissal. Dismiss also undoes Retire, unless the engine is in use again.
func (e *Engine) Dismiss(inUse func() bool) {
	e.mu.Lock()
	used := inUse()
	if !used {
		e.unretire()
	}
	if used || e.deserted() {
		e.mu.Unlock()
		return
	}
	if e.dismissed == nil {
		e.dismissed = make(chan struct{})
	}
	over := e.dismissed
	e.unlock()
	<-over
}

// Retire makes workers end that find nothing to do, until Dismiss or Unretire. It rings over whenever no
// worker is left, so a caller that waits for the ends of the last task and of the last worker waits only
// once.
func (e *Engine) Retire(over *Bell) {
	e.mu.Lock()
	e.retired = over
	e.foresee()
	e.quitIdle(len(e.idle))
	e.unlock()
}

// Unretire undoes Retire. A goroutine that lets others use the engine again must call it before: one of them
// may call Retire at once.
func (e *Engine) Unretire() {
	e.mu.Lock()
	e.unretire()
	e.mu.Unlock()
}

func (e *Engine) unretire() {
	e.retired = nil
	e.foresee()
}

// Revive ends a dismissal, even before the last worker has ended.
func (e *Engine) Revive() {
	e.mu.Lock()
	if e.dismissed != nil {
		close(e.dismissed)
		e.dismissed = nil
	}
	e.unlock()
}

// deserted reports whether there is no worker, and no goroutine on its way to the lock to start one: such a
// goroutine has a permit but is no worker yet. Nor may a goroutine still have expired tasks to report.
func (e *Engine) deserted() bool {
	return len(e.workers) == 0 && e.permits.active() == 0 && !e.expiring()
}

// Staying returns the number of workers that are not about to end. If several workers end at once, each of
// them finds in End that none stays.
func (e *Engine) Staying() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.workers) - int(e.leaving)
}

// wind ends idle workers that are no longer wanted, and notifies the goroutines that wait for the end of the
// last worker.
func (e *Engine) wind() {
	if e.retired != nil {
		e.notifyRetired()
	}
	if e.dismissed != nil {
		e.quitIdle(len(e.idle))
		if e.deserted() {
			close(e.dismissed)
			e.dismissed = nil
		}
	}
	if !e.closed || e.hasWork() || e.throttled() || e.hasUnended() {
		return
	}
	e.quitIdle(len(e.idle))
	if !e.deserted() {
		return
	}
	select {
	case <-e.finished:
	default:
		e.abandoned.Store(true)
		e.permits.allow(0) // no worker is woken any more
		close(e.finished)
		e.endsLane()
	}
}

// notifyRetired rings the bell of Retire, which has been called, when no worker is left.
func (e *Engine) notifyRetired() {
	if e.deserted() {
		e.retired.Ring()
	}
}

// Discard notes that tasks in the queue have become void without having started. It calls count under the
// lock, which returns their number. These tasks take no room any more, but Run may still get some of them.
func (e *Engine) Discard(count func() int) {
	e.mu.Lock()
	if n := count(); n > 0 {
		e.handedBack += uint64(n)
		e.died(n)
	}
	e.unlock() // there is room now
}

// Suspect notes that the queue holds void tasks that dead does not count. The engine searches for them when
// there is no room.
func (e *Engine) Suspect() {
	e.mu.Lock()
	e.suspects = true
	e.serveAll() // there may be room now
	e.unlock()
}

// died notes that n more tasks in the queue are void. It removes the void tasks at the head, and compacts the
// queue if the others are most of it. So each void task costs two looks at most, none of them delays a Wait
// in a pause, and what they refer to does not stay while the workers are busy.
func (e *Engine) died(n int) {
	q := &e.queue
	q.dead.Add(int64(n))
	q.setGates(true, true)
	q.shed(e.Void, e.gone)
	if dead := q.dead.Load(); dead >= firstRing && 2*dead >= int64(q.len()+len(e.waits)-e.asking) {
		e.sweep()
	}
}

// sweep removes all void tasks from the queue, unless a submitter or a worker is half-way through a slot.
func (e *Engine) sweep() {
	q := &e.queue
	q.setGates(true, true)
	if q.advance(); q.head.Load() == nil {
		e.suspects = false
		return
	}
	waits := e.waits[e.asking:]
	at := make([]*uint64, len(waits))
	for i, w := range waits {
		at[i] = &w.at
	}
	void, ok := q.compact(e.Void, at)
	if e.halfway = !ok; !ok {
		return
	}
	e.suspects = false
	e.delegated.Add(uint64(len(void))) // positions do not count them any more
	for _, v := range void {
		e.gone(v)
	}
}

// gone notes that a void task has left the queue.
func (e *Engine) gone(task Task) {
	if e.Counted == nil || e.Counted(task) {
		e.queue.dead.Add(-1)
	} else {
		e.handedBack++
	}
}

// Skipped notes that Run got a task that is void and was counted as void.
func (e *Engine) Skipped() {
	e.queue.dead.Add(-1)
	e.Untake()
}

// Untake returns the token of a task that a worker has taken off the queue and that does not run.
func (e *Engine) Untake() {
	if e.rated != nil {
		e.rated.bucket.Return(1)
	}
}

// Skip is Skipped for a void task that may not have been counted.
func (e *Engine) Skip(task Task) {
	e.mu.Lock()
	e.gone(task)
	e.unlock()
}

// Superseded must be called after Shutdown for each task that Shutdown has returned and that was void by
// then.
func (e *Engine) Superseded(task Task) {
	e.mu.Lock()
	e.handedBack--
	e.gone(task)
	e.unlock()
}

// HandedBack counts a task that Run got but did not run.
func (e *Engine) HandedBack() {
	e.mu.Lock()
	e.handedBack++
	e.mu.Unlock()
}

// Timers adds n to the number of tasks that are to be submitted later.
func (e *Engine) Timers(n int) { e.timers.Add(int32(n)) }

// Stats holds counts at one moment. They are exact when nothing is under way.
type Stats struct {
	Limit, Workers, Running, Suspended, Returning, Extra, Idle, InLanes, Queued, Waiting, Timers int
	Throttled, Paused, Closed                                                                    bool
	Accepted, Finished, HandedBack, Rejected, Panicked                                           uint64
}

// Stats returns the counts of this moment. It first removes void tasks that were not counted.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	if e.suspects {
		e.sweep()
		e.unlock()
		e.mu.Lock()
	}
	defer e.mu.Unlock()
	return e.stats()
}

// Glance is Stats that changes nothing. Its Queued may include void tasks.
func (e *Engine) Glance() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats()
}

// stats returns the counts, under the lock.
func (e *Engine) stats() Stats {
	unfinished, inLanes, split, above := 0, 0, 0, 0
	e.eachWorker(func(w *Worker) {
		if !w.free.Load() {
			unfinished++
			if p := w.place; p != nil && w.returnsAbove() { // no engine above counts it
				above++
				if p.waits == 0 {
					split++
				}
			}
		}
		if w.carries != nil {
			inLanes++
		}
	})
	s := Stats{
		Limit:      e.limit,
		Workers:    len(e.workers),
		Idle:       len(e.idle),
		InLanes:    inLanes,
		Waiting:    e.submitters.length,
		HandedBack: e.handedBack,
		Rejected:   e.rejected,
		Panicked:   e.panicked,
		Timers:     int(e.timers.Load()),
		Throttled:  e.isDry() && e.holdsTasks(),
		Paused:     e.paused && !e.closed,
		Closed:     e.closed,
		Accepted:   e.queue.accepted(),
	}
	s.Suspended = int(e.suspended) + split
	s.Returning = int(e.comingBack) + above
	s.Extra = e.permits.active() - e.limit
	if e.bidding() {
		s.Extra-- // for the worker that will come
	}
	s.Extra = max(0, s.Extra)
	s.Running = max(0, unfinished-s.Suspended)
	s.Queued = int(max(0, int64(s.Accepted-e.queue.taken())-e.queue.dead.Load()))
	s.Accepted += e.delegated.Load()
	for _, set := range e.subtasks {
		s.Queued += int(set.open.Load())
	}
	s.Finished = uint64(max(0, int64(s.Accepted-s.HandedBack)-int64(s.Queued)-int64(unfinished)))
	return s
}
