package engine

import "sync/atomic"

// Tally counts the tasks of a set that begins and ends together: those that have begun to be handed over, and
// those that have ended. The set is over when the two counts are equal. Seal makes sure of that, and lets no
// more tasks in, in one atomic step. So either the waiter waits for a task, or the task finds the set sealed.
// For sets that are given up see Close; for direct tasks, BeginDirect and DirectQueue.
//
// One goroutine at a time waits for the end. When Seal or Finish has reported false, the call that brings the
// end about (Handed, End, Leave, Withdraw and the like) reports true, and its caller notifies the waiter to
// look again. These calls report true for nothing else, unless more tasks begin meanwhile, or the set is
// closed: a task that waits must not be notified for nothing, because its place may be lent.
type Tally struct {
	intake *Intake
	ended  atomic.Int64
	inside atomic.Int64 // counts workers that may begin tasks, holders of the set, and direct tasks; with closed and switched

	// calledAt is one more than the number of ended tasks at which the waiter must be notified; 0 if there is
	// no waiter.
	calledAt atomic.Int64
}

// Intake is the part of a Tally that submitters write; workers write the rest. The two should share no cache
// line, neither with each other nor with anything that is read for every task.
type Intake struct {
	begun  atomic.Int64
	handed atomic.Int64 // counts tasks that are not on their way any more; with closed
}

// Init makes t count the tasks that in lets in.
func (t *Tally) Init(in *Intake) { t.intake = in }

const (
	// sealed, set in begun, says that no more tasks are let in.
	sealed = 1 << 62

	// closed, set in handed and inside, says that queued tasks do not begin any more.
	closed = 1 << 62

	// switched, set in inside, says that no task begins as a direct one any more.
	switched = 1 << 61

	// A direct task counts oneDirect in inside, and a task in the DirectQueue oneWaiting. A worker counts 1;
	// so does the worker of a task that Adopt has made a queued one.
	oneDirect  = 1 << 32
	oneWaiting = 1 << 44
)

// Begin counts a task in, and numbers it. It reports false if the set is sealed.
func (in *Intake) Begin() (number int, ok bool) {
	n := in.begun.Add(1)
	return int(n - 1), n < sealed
}

// Begun returns how many numbers Begin has given so far.
func (t *Tally) Begun() int { return int(t.intake.begun.Load() &^ sealed) }

// Open returns how many tasks have begun to be handed over and have not ended.
func (t *Tally) Open() int { return int(max(0, t.intake.begun.Load()&^sealed-t.ended.Load())) }

// Handed notes that a task was accepted, and reports whether the waiter must look again. Only sets that may
// be closed need it.
func (in *Intake) Handed() (tell bool) { return in.handed.Add(1)&closed != 0 }

// Withdraw undoes Begin for a task that was not accepted, and reports whether the waiter must look again. The
// task's number is used again, unless another task has begun since.
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

// Enter must be called before a worker begins tasks of the set, or before a loop holds the set. The set is
// not over before Leave. Enter reports false if the set is closed.
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

// left reports whether the waiter must look again after inside has become less.
func (t *Tally) left(inside int64) (tell bool) {
	if inside&^switched == closed {
		return true
	}
	return t.ends(t.ended.Load()) // tasks of others, too, that have ended while the caller was inside
}

// Seal lets no more tasks in if all tasks that have begun have ended, and reports whether that is so.
func (t *Tally) Seal() bool {
	for {
		begun, over := t.look()
		if !over || t.intake.begun.CompareAndSwap(begun, begun|sealed) {
			return over
		}
	}
}

// Close gives the set up: queued tasks do not begin any more. Finish must follow, instead of Seal.
//
// A closed set may be over while tasks of it are queued. Finish seals it as soon as none of its tasks runs or
// is on its way to the queue. For that a submitter calls Handed when a task is accepted; a worker calls Enter
// before its first task, and Leave after its last. No search of the queue is needed: it holds the tasks that
// were handed over and have not ended.
func (t *Tally) Close() {
	t.inside.Or(closed)
	t.intake.handed.Or(closed)
}

// Closed reports whether the set has been given up.
func (t *Tally) Closed() bool { return t.inside.Load()&closed != 0 }

// Finish seals a closed set if no task of it runs or is on its way, and reports whether that is so. left is
// how many tasks are queued and will never begin.
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

// look sets calledAt for the end of all tasks that have begun, and reports whether they have ended.
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

// isOver reports whether all n tasks that have begun have ended, and no goroutine holds the set.
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
