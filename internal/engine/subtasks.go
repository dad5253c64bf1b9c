package engine

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/fifo"
)

// Subtasks is a set of tasks that a running task has handed over and will wait for. It holds each of them
// until it starts.
//
// Subtasks for the task's own engine stand next to the queue, not in it. The task that will wait for them has
// its place to lend to them, so they never have to wait for what is queued. Free workers take from the oldest
// listed set, whose tasks are likely to be the largest. Work stealing does the same (Blumofe and Leiserson,
// "Scheduling multithreaded computations by work stealing", 1999).
//
// Each subtask for another engine has a ticket in the queue of that engine, with the number of the subtask.
// The worker that takes the ticket takes the subtask, unless it has started out of turn.
type Subtasks struct {
	open   atomic.Int64    // how many tasks are not claimed; changed under mu
	listed atomic.Bool     // the set is in Engine.subtasks; changed under Engine.mu
	void   func(Task) bool // recognizes the zero task, which stands for a redeemed one; nil if the tasks have no tickets

	// Under Engine.mu.
	want      Want
	number    uint64              // see around
	within    *Subtasks           // the set that the task which waits for this one belongs to
	busy      fifo.List[Subtasks] // sets within this one that have work for the tasks that wait for this one
	below     fifo.Link[Subtasks] // in within.busy
	crowded   []*Waiter           // waits for room: they last until few tasks are open
	lingering fifo.List[Waiter]   // see Lingers
	waiter    *Waiter             // waiter of the last task that waited for the set

	returns *returnees // subtasks that gave their places up and want to go on; nil while there were none

	mu    sync.Mutex // may be taken under Engine.mu, never the other way round
	tasks []Task     // the tasks from next on are open, except zero tasks; the one at next, if any, is open
	next  int
	first uint64  // the number of the first of tasks
	few   [2]Task // the first memory of tasks: most tasks that hand tasks over hand over two
}

// add puts task behind the other tasks, and returns its number.
func (s *Subtasks) add(task Task) (number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number = s.first + uint64(len(s.tasks))
	s.append(task)
	return number
}

// append is add under s.mu.
func (s *Subtasks) append(task Task) {
	if s.tasks == nil {
		s.tasks = s.few[:0]
	}
	if s.next > 0 && (s.next == len(s.tasks) || s.next >= 32 && s.next > len(s.tasks)/2 && len(s.tasks) == cap(s.tasks)) {
		n := copy(s.tasks, s.tasks[s.next:])
		clear(s.tasks[n:])
		s.tasks, s.first, s.next = s.tasks[:n], s.first+uint64(s.next), 0
	}
	s.tasks = append(s.tasks, task)
	s.open.Store(s.open.Load() + 1)
}

// claim takes the oldest task.
func (s *Subtasks) claim() (task Task, ok bool) {
	if s.open.Load() == 0 {
		return task, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == len(s.tasks) {
		return task, false
	}
	return s.takeAt(s.next), true
}

// takeAt takes the open task at index i.
func (s *Subtasks) takeAt(i int) (task Task) {
	var none Task
	task, s.tasks[i] = s.tasks[i], none
	if i == s.next {
		s.next++
		for s.void != nil && s.next < len(s.tasks) && s.void(s.tasks[s.next]) {
			s.next++
		}
	}
	s.open.Store(s.open.Load() - 1)
	return task
}

// drop takes all open tasks.
func (s *Subtasks) drop() (dropped []Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, task := range s.tasks[s.next:] {
		if s.void == nil || !s.void(task) {
			dropped = append(dropped, task)
		}
	}
	clear(s.tasks)
	s.tasks, s.first, s.next = s.tasks[:0], s.first+uint64(len(s.tasks)), 0
	s.open.Store(0)
	return dropped
}

// Delegate hands over a subtask. The caller is a task that runs on e and will wait for the tasks of s.
// Delegate returns the tasks, almost always none, that no worker will ever take, because the engine hands
// back what has not started, or has ended. Only a goroutine that is no task can find that the engine has
// ended.
func (e *Engine) Delegate(s *Subtasks, task Task) (refused []Task) {
	if e.abandoned.Load() {
		return []Task{task}
	}
	if s.listed.Load() {
		e.delegated.Add(1)
		s.add(task)
		if s.listed.Load() { // a listed set has not been seen empty: the engine still runs
			if s.want.waits.Load() > 0 { // a task that begins to wait looks at open afterwards
				e.mu.Lock()
				e.reoffer(s)
				e.unlock()
			}
			if e.permits.wakeable() {
				e.stir()
			}
			return nil
		}
		e.mu.Lock()
		if e.abandoned.Load() {
			refused = s.drop()
			e.delegated.Add(-uint64(len(refused)))
		}
		e.list(s)
		e.reoffer(s)
		e.unlock()
		return refused
	}
	e.mu.Lock()
	defer e.unlock()
	if e.abandoned.Load() {
		return []Task{task}
	}
	e.delegated.Add(1)
	s.add(task)
	e.list(s)
	e.reoffer(s)
	return nil
}

// reoffer offers the open tasks of s to the tasks that wait for s. In a pause it wakes the task that waits
// for all of them, which then also watches for a cancellation.
func (e *Engine) reoffer(s *Subtasks) {
	if s.want.waits.Load() == 0 || s.open.Load() == 0 {
		return
	}
	e.offer(&s.want)
	if e.isStopped() {
		e.recallWaiter(s)
	}
}

// Init prepares s for use. If the tasks have tickets in a queue, void recognizes the zero task; otherwise
// void is nil.
func (s *Subtasks) Init(void func(Task) bool) { s.void, s.want.subtasks = void, s }

// Want returns the Want of the tasks that wait for s.
func (s *Subtasks) Want() *Want { return &s.want }

// pushTicket adds task to s, and its ticket to r. A goroutine that holds Engine.mu and looks under s.mu sees
// both or neither. outOfTurn and Drop rely on that: each open task has its ticket in the queue or with a
// waiting submitter.
func (s *Subtasks) pushTicket(r *ring, task Task, ticket func(Task, uint64) Task) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.push(ticket(task, s.first+uint64(len(s.tasks))), false) != moved {
		return false
	}
	s.append(task)
	return true
}

// Redeem takes the task whose ticket, in the queue or with a waiting submitter, has the number. It reports
// false if the task has started out of turn, or was dropped.
func (s *Subtasks) Redeem(number uint64) (task Task, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(number)
	if !ok {
		return task, false
	}
	return s.takeAt(i), true
}

// withdraw is Redeem for a task whose ticket was not accepted. If the task is the last one, it leaves no zero
// task behind.
func (s *Subtasks) withdraw(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(number)
	if !ok {
		return
	}
	s.takeAt(i)
	if i == len(s.tasks)-1 && i >= s.next {
		s.tasks = s.tasks[:i]
	}
}

// Holds reports whether Redeem would find the task.
func (s *Subtasks) Holds(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.find(number)
	return ok
}

func (s *Subtasks) find(number uint64) (index int, ok bool) {
	if number < s.first+uint64(s.next) {
		return 0, false
	}
	index = int(number - s.first)
	return index, index < len(s.tasks) && !s.void(s.tasks[index])
}

// TryDelegate is [Engine.Delegate] that hands task over only if there is room: in s, as long as fewer tasks
// are open there than the queue has places, or on a free worker.
func (e *Engine) TryDelegate(s *Subtasks, task Task) bool {
	for {
		e.mu.Lock()
		switch {
		case e.abandoned.Load():
			e.mu.Unlock()
			return false
		case s.open.Load() < int64(e.queue.capacity):
			e.delegated.Add(1)
			s.add(task)
			e.list(s)
			e.reoffer(s)
			e.unlock()
			return true
		case !e.placeWanted() && e.tryPlace():
			e.delegated.Add(1)
			e.assign(task, e.subtaskMark(), s)
			e.unlock()
			return true
		}
		// As in TrySubmit, the answer must wait for a worker that is between two tasks.
		settled := !e.coming() && !e.between()
		e.mu.Unlock()
		if settled {
			return false
		}
		runtime.Gosched()
	}
}

// Drop discards the open tasks of s, which then never run, and returns their number.
func (e *Engine) Drop(s *Subtasks) int {
	e.mu.Lock()
	n := len(s.drop())
	e.handedBack += uint64(n)
	if s.void != nil {
		e.died(n - e.admitDropped(s))
	} else {
		e.dry(s)
	}
	e.recallCrowd(s, nil)
	e.recallAll(&s.lingering, nil)
	e.unlock()
	return n
}

// recallCrowd recalls the waiters for room in s. What gets a place meanwhile may ease s, so the crowd must not
// change while it is recalled.
func (e *Engine) recallCrowd(s *Subtasks, by *Worker) {
	crowd := s.crowded
	s.crowded = nil
	for _, a := range crowd {
		e.recall(a, by)
	}
}

// admitDropped admits the submitters that wait for room with a ticket for a dropped task of s, and returns
// their number.
func (e *Engine) admitDropped(s *Subtasks) (n int) {
	for l := s.want.submitters.First(); l != nil; {
		submitter := l.Of()
		if l = l.Next(); e.Void(submitter.value) {
			e.submitters.resolve(submitter, Accepted)
			e.delegated.Add(1)
			n++
		}
	}
	return n
}

// Overfull reports whether s has more open tasks than the queue has places.
func (e *Engine) Overfull(s *Subtasks) bool {
	return s.open.Load() > int64(e.queue.capacity)
}

// eased recalls the waiters for room in s, if there is enough room: half of the places. A waiter that came
// back for each single place would have to wait as often. A task whose place is lent is not recalled yet. It
// goes on when its place is vacant, when another place is free, or when a task of s is over. The same holds for a task
// of a lane that has its permit there, and whose place in an engine above is lent.
func (e *Engine) eased(s *Subtasks) {
	if len(s.crowded) == 0 || s.open.Load() > int64(e.queue.capacity/2) {
		return
	}
	waiting, free := s.crowded[:0], []*Waiter(nil)
	for _, a := range s.crowded {
		if x := a.lender(); x != nil {
			waiting = append(waiting, a)
			if u := a.unblocked; u == nil || !a.lendsIn(u.engine) { // else prepays, which looks at all engines, has chosen
				a.unblocks(x.engine)
			}
		} else {
			free = append(free, a)
		}
	}
	clear(s.crowded[len(waiting):])
	s.crowded = waiting
	for _, a := range free { // last: see recallCrowd
		e.recall(a, nil)
	}
}

// ends follows the end of w's task. It ends waits for room in the set that the task belongs to, if there is
// enough room. This is one of the moments at which a task whose place is lent goes on. If that task went on
// as soon as a task that it has handed over begins, it would need one more place for each.
func (e *Engine) ends(w *Worker) {
	if w.place == nil || w.place.from == nil {
		return
	}
	s := w.place.from
	if s.lingering.First() != nil {
		e.endsFor(s, w)
	}
	if len(s.crowded) == 0 || s.open.Load() > int64(e.queue.capacity/2) {
		return
	}
	e.recallCrowd(s, w)
}

// endsFor recalls the waiter that lingers until a task of s, such as that of w, is over: the one whose task has lent its place to the task of w. If
// that place was passed on, it recalls all, as the tasks that have their places now may wait for theirs.
func (e *Engine) endsFor(s *Subtasks, w *Worker) {
	for x := w; x != nil; x = x.carrier {
		if x.place == nil || x.place.beneath == nil {
			continue
		}
		for l := x.place.beneath.bottom().lingering(); l != nil; l = l.Next() {
			if l.Of().unblocked.set == s {
				e.recallOwn(l.Of(), w)
				return
			}
		}
	}
	e.recallAll(&s.lingering, w)
}

// claim takes a task of the oldest listed set that has one.
func (e *Engine) claim() (task Task, from *Subtasks, ok bool) {
	for e.delegating() {
		s := e.subtasks[0]
		if task, ok = s.claim(); ok {
			e.claimed(s)
			e.eased(s)
			return task, s, true
		}
	}
	return task, nil, false
}

// delegating reports whether a listed set has open tasks. If so, the first set of the list has some.
func (e *Engine) delegating() bool {
	for len(e.subtasks) > 0 {
		if !e.unlist(e.subtasks[0]) {
			return true
		}
		e.subtasks[0] = nil
		e.subtasks = e.subtasks[1:]
	}
	e.subtasks = nil
	return false
}

// prune removes the youngest sets from the list, as long as they have no open tasks. The sets in use form a
// stack, like the tasks that wait for them, so few sets without open tasks stay.
func (e *Engine) prune() {
	for last := len(e.subtasks) - 1; last >= 0 && e.unlist(e.subtasks[last]); last-- {
		e.subtasks[last] = nil
		e.subtasks = e.subtasks[:last]
	}
}

// unlist reports whether s may leave the list. A goroutine that adds a task looks at listed afterwards. So
// either unlist sees that task, or the goroutine lists the set again.
func (e *Engine) unlist(s *Subtasks) bool {
	if s.open.Load() > 0 {
		return false
	}
	s.listed.Store(false)
	if s.open.Load() == 0 {
		return true
	}
	s.listed.Store(true)
	return false
}

// list puts s on the list, where workers see its open tasks.
func (e *Engine) list(s *Subtasks) {
	if s.open.Load() == 0 || s.listed.Load() {
		return
	}
	e.prune()
	s.listed.Store(true)
	e.subtasks = append(e.subtasks, s)
}
