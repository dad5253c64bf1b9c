package engine

import "sync/atomic"

// Tally counts the tasks of a set that begins and ends together: those that have begun to be handed
// over, and those that have ended. The set is over when the two are equal. Seal then lets no more tasks
// in, with the same atomic step that makes sure of it: so the waiter waits for a task, or the task
// finds the set sealed.
//
// A set that is given up may be over while tasks of it are queued: Close keeps workers from beginning one of those,
// and Finish seals the set as soon as none runs, and none is on its way to the queue. For that a submitter
// calls Handed when a task is accepted, and a worker calls Enter before its first task and Leave after the
// last. Nothing searches the queue: it holds the tasks that were handed over and have not ended.
//
// A set may begin with direct tasks, of which each has a goroutine of its own and none is ever queued, until Switch: they then are among
// the tasks that workers run.
//
// One goroutine at a time waits for the end. When Seal or Finish reports false, the call of Handed, End, Leave or
// Withdraw that brings the end about reports true, and its caller notifies the goroutine to look again. They report
// true for nothing else, unless more tasks begin meanwhile, or the set is closed: a task that waits must not
// be notified for nothing, because its place may be lent.
type Tally struct {
	intake *Intake
	ended  atomic.Int64
	inside atomic.Int64 // workers that may begin tasks, and holders of the set; and direct tasks; with closed and switched

	// calledAt is one more than the number of ended tasks at which the waiter wants to be notified; 0 if
	// there is no waiter.
	calledAt atomic.Int64
}

// Intake is the part of a Tally that submitters write; workers write the rest. The two should share no cache line, nor
// one with what is read for every task.
type Intake struct {
	begun  atomic.Int64
	handed atomic.Int64 // tasks that are not on their way any more; with closed
}

// Init makes t count what in lets in.
func (t *Tally) Init(in *Intake) { t.intake = in }

const (
	// sealed, set in begun, lets no more tasks in.
	sealed = 1 << 62

	// closed, set in handed and inside, says that queued tasks do not begin any more.
	closed = 1 << 62

	// switched, set in inside, says that no task begins as a direct one any more.
	switched = 1 << 61

	// In inside a direct task counts so much: the worker of one that Adopt has made a queued task counts 1, as others do.
	oneDirect = 1 << 32
)

// Begin counts a task in, and numbers it. It reports false if the set is sealed.
func (in *Intake) Begin() (number int, ok bool) {
	n := in.begun.Add(1)
	return int(n - 1), n < sealed
}

// Open is how many tasks have begun to be handed over and have not ended.
func (t *Tally) Open() int { return int(max(0, t.intake.begun.Load()&^sealed-t.ended.Load())) }

// Handed notes that a task was accepted, and reports whether the waiter must look again. Only sets that may
// be closed need it.
func (in *Intake) Handed() (tell bool) { return in.handed.Add(1)&closed != 0 }

// Withdraw undoes Begin for a task that was not accepted. Its number is used again, unless another
// task has begun since. It reports whether the waiter must look again.
func (t *Tally) Withdraw(number int) (tell bool) {
	begun := int64(number) + 1
	if !t.intake.begun.CompareAndSwap(begun, begun-1) {
		return t.Refuse()
	}
	return t.intake.handed.Load()&closed != 0 || t.calledAt.Load() > 0 && t.mustNotify()
}

// Refuse counts out a task that was not accepted, and reports whether the waiter must look again.
func (t *Tally) Refuse() (tell bool) {
	tell = t.End(1)
	return t.intake.Handed() || tell
}

// End counts n tasks out, and reports whether the waiter must look again.
func (t *Tally) End(n int) (tell bool) { return t.ends(t.ended.Add(int64(n))) }

func (t *Tally) ends(ended int64) (tell bool) {
	calledAt := t.calledAt.Load()
	return calledAt > 0 && ended >= calledAt-1 && t.mustNotify()
}

// Enter must be called before a worker begins tasks of the set, or a loop holds it: the set is not over before
// Leave. It reports false if the set is closed.
func (t *Tally) Enter() bool {
	for {
		n := t.inside.Load()
		if n&closed != 0 {
			return false
		}
		if t.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Hold is Enter for a caller that knows that the set is not over.
func (t *Tally) Hold() { t.inside.Add(1) }

// Leave ends an Enter or Hold, counts n tasks out, and reports whether the waiter must look again.
func (t *Tally) Leave(n int) (tell bool) {
	t.ended.Add(int64(n))
	return t.left(t.inside.Add(-1))
}

// left reports whether the waiter must look again, as inside has become less.
func (t *Tally) left(inside int64) (tell bool) {
	if inside&^switched == closed {
		return true
	}
	return t.ends(t.ended.Load()) // of others, too, that have ended while this one was inside
}

// BeginDirect begins a task that has been counted in and was never queued, as a direct one, and reports whether it may: fewer than limit
// direct tasks run, Switch has not been called, and the set is not closed. EndDirect follows, or Adopt.
func (t *Tally) BeginDirect(limit int) bool {
	for {
		n := t.inside.Load()
		if n&(closed|switched) != 0 || n/oneDirect >= int64(limit) {
			return false
		}
		if t.inside.CompareAndSwap(n, n+oneDirect) {
			return true
		}
	}
}

// EndDirect counts a direct task out, and reports whether the waiter must look again. It reports false for ok if Switch has counted
// the task: EndSwitched follows, before which the set is not over.
func (t *Tally) EndDirect() (tell, ok bool) {
	t.ended.Add(1)
	for {
		n := t.inside.Load()
		if n&switched != 0 {
			return false, false
		}
		if t.inside.CompareAndSwap(n, n-oneDirect) {
			return t.left(n - oneDirect), true
		}
	}
}

// EndSwitched is the second part of EndDirect.
func (t *Tally) EndSwitched() (tell bool) { return t.left(t.inside.Add(-oneDirect)) }

// Switch lets no more tasks begin as direct ones, and returns how many there are. It is called once.
func (t *Tally) Switch() int { return int(t.inside.Or(switched) &^ closed / oneDirect) }

// Adopt makes a queued task that a worker has begun of a direct one: Leave follows.
func (t *Tally) Adopt() { t.inside.Add(1 - oneDirect) }

// Seal lets no more tasks in, if all that have begun have ended, and reports whether that is so.
func (t *Tally) Seal() bool {
	for {
		begun, over := t.look()
		if !over || t.intake.begun.CompareAndSwap(begun, begun|sealed) {
			return over
		}
	}
}

// Close gives the set up: queued tasks do not begin any more. Finish follows, in place of Seal.
func (t *Tally) Close() {
	t.inside.Or(closed)
	t.intake.handed.Or(closed)
}

// Closed reports whether the set has been given up.
func (t *Tally) Closed() bool { return t.inside.Load()&closed != 0 }

// Finish seals a closed set, if no task of it runs or is on its way, and reports whether that is so. left is how many
// tasks are queued, and never begin.
func (t *Tally) Finish() (left int, over bool) {
	for {
		begun := t.intake.begun.Load()
		// In this order: a submitter that is refused may hold the set, and counts its task out afterwards.
		if t.intake.handed.Load() != begun|closed || t.inside.Load()&^switched != closed {
			return 0, false
		}
		left = int(begun - t.ended.Load())
		if t.intake.begun.CompareAndSwap(begun, begun|sealed) {
			return left, true
		}
	}
}

// look sets calledAt to the end of all that have begun, and reports whether that has come.
func (t *Tally) look() (begun int64, over bool) {
	for {
		begun = t.intake.begun.Load()
		n := begun &^ sealed
		t.calledAt.Store(n + 1)
		// If begun has changed meanwhile, the goroutine that changed it may have set calledAt too early.
		if t.intake.begun.Load() == begun {
			return begun, t.isOver(n)
		}
	}
}

// isOver reports whether all n tasks that have begun have ended, and the set is not held.
func (t *Tally) isOver(n int64) bool {
	return t.ended.Load() >= n && t.inside.Load()&^(closed|switched) == 0
}

// mustNotify reports whether the caller must notify the waiter.
func (t *Tally) mustNotify() bool {
	_, over := t.look()
	return over
}

// Over reports whether all tasks that have begun have ended.
func (t *Tally) Over() bool { return t.isOver(t.intake.begun.Load() &^ sealed) }

// Sealed reports whether the set is over for good.
func (t *Tally) Sealed() bool { return t.intake.begun.Load()&sealed != 0 }
