package engine

import "sync/atomic"

// Tally counts the tasks of a set that begins and ends together: those that have begun to be handed
// over, and those that have ended. The set is over when the two are equal. Seal then lets no further task
// in, with the same atomic step that makes sure of it: so a task is either waited for, or finds
// the set sealed.
//
// One goroutine at a time waits for the end. When Seal reports false, the call of End or Withdraw that
// brings the end about reports true, and its caller tells the goroutine to call Seal again. They report
// true for nothing else, unless more tasks begin meanwhile: a task that waits must not be told for
// nothing, for its place may be lent.
type Tally struct {
	_     [tallyPad]byte // submitters write begun, workers write the following; what stands before is read for every task
	begun atomic.Int64
	_     [tallyPad]byte
	ended atomic.Int64

	// calledAt is one more than the number of ended tasks at which who waits wants to be told; 0 if
	// nobody waits.
	calledAt atomic.Int64
}

const (
	// tallyPad is a single cache line: tallies are many and small.
	tallyPad = 64

	// sealed, set in begun, lets no further task in.
	sealed = 1 << 62
)

// Begin counts a task in, and numbers it. It reports false if the set is sealed.
func (t *Tally) Begin() (number int, ok bool) {
	n := t.begun.Add(1)
	return int(n - 1), n < sealed
}

// Withdraw undoes Begin for a task that was not accepted. Its number is used again, unless another
// task has begun since. It reports whether who waits must be told.
func (t *Tally) Withdraw(number int) (tell bool) {
	begun := int64(number) + 1
	if !t.begun.CompareAndSwap(begun, begun-1) {
		return t.End(1)
	}
	return t.calledAt.Load() > 0 && t.tell()
}

// End counts n tasks out, and reports whether who waits must be told.
func (t *Tally) End(n int) (tell bool) {
	ended, calledAt := t.ended.Add(int64(n)), t.calledAt.Load()
	return calledAt > 0 && ended >= calledAt-1 && t.tell()
}

// Seal lets no further task in, if all that have begun have ended, and reports whether that is so.
func (t *Tally) Seal() bool {
	for {
		begun, over := t.look()
		if !over || t.begun.CompareAndSwap(begun, begun|sealed) {
			return over
		}
	}
}

// look sets calledAt to the end of all that have begun, and reports whether that has come.
func (t *Tally) look() (begun int64, over bool) {
	for {
		begun = t.begun.Load()
		n := begun &^ sealed
		t.calledAt.Store(n + 1)
		// If begun has changed meanwhile, who has changed it may have set calledAt too early.
		if t.begun.Load() == begun {
			return begun, t.ended.Load() >= n
		}
	}
}

// tell reports whether the goroutine that waits must be told.
func (t *Tally) tell() bool {
	_, over := t.look()
	return over
}

// Over reports whether all tasks that have begun have ended.
func (t *Tally) Over() bool { return t.ended.Load() >= t.begun.Load()&^sealed }

// Sealed reports whether the set is over for good.
func (t *Tally) Sealed() bool { return t.begun.Load()&sealed != 0 }
