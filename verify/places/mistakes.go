package places

import "slices"

// Mistake is a mistake in the rule, planted to show that the checks find it.
type Mistake string

// The mistakes.
const (
	None             Mistake = ""
	LendsToQueue     Mistake = "a place goes to the queue"
	LendsToSubtasks  Mistake = "a place goes to a subtask that is not awaited"
	ReturnsInLine    Mistake = "a task whose wait is over waits for a place"
	LendsTwice       Mistake = "a place is lent twice"
	CountsEachWait   Mistake = "a task of which two goroutines wait lends two places"
	LosesLentPlaces  Mistake = "a lent place is lost by cancellation"
	LeavesStuckPools Mistake = "nothing is lent because all tasks of a pool wait"
	KeepsExtraPlaces Mistake = "an extra place is not lent"
)

// lenders returns the task that may lend the place: the top, if it waits.
func (w *world) lenders(k *place) (may []*task) {
	for _, t := range k.stack {
		if t.state == waiting && (t == k.top() || w.Mistake == LendsTwice) && (!k.extra || w.Mistake != KeepsExtraPlaces) {
			may = append(may, t)
		}
	}
	return may
}

func (w *world) lendsByMistake(lender, u *task) bool {
	subtask := false
	for a := u.parent; a != nil; a = a.parent {
		subtask = subtask || a == lender
	}
	return w.Mistake == LendsToQueue || w.Mistake == LendsToSubtasks && subtask
}

// countEachWait lends a place that is not there, if the mistake says so and tasks of several pools are awaited.
func (w *world) countEachWait(t *task) {
	of := t.awaited()
	if w.Mistake == CountsEachWait && slices.ContainsFunc(of, func(u *task) bool { return u.pool != of[0].pool }) {
		t.pool.open().stack = []*task{t}
	}
}
