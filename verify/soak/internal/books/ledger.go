package books

import (
	"errors"
	"slices"
	"sync/atomic"
)

// Ledger has an entry for each task of a round: what became of the call that handed it over,
// and how often it was started, ended and handed back.
type Ledger struct {
	book       *Book
	rejections []error
	entries    []entry
	next       atomic.Int64
}

type entry struct {
	fate                             atomic.Uint32
	starts, ends, returned, panicked atomic.Uint32
}

// The fates of a task.
const (
	unsettled = iota // the call that hands it over has not returned
	accepted         // it must run, or be handed back
	rejected         // it must not run
)

// NewLedger returns a ledger with room for n tasks. Calls may reject them with one of the errors alone.
func NewLedger(b *Book, n int, rejections ...error) *Ledger {
	return &Ledger{book: b, rejections: rejections, entries: make([]entry, n)}
}

// New returns the number of another task, which a call is about to hand over.
func (l *Ledger) New() int { return int(l.next.Add(1)) - 1 }

// Settle notes what the call that handed a task over has returned.
func (l *Ledger) Settle(id int, err error) {
	if err == nil {
		l.Accept(id)
		return
	}
	l.Reject(id)
	l.book.Check(slices.ContainsFunc(l.rejections, func(target error) bool { return errors.Is(err, target) }),
		"task %d was rejected with an error that fits nothing: %v", id, err)
}

// Accept notes that a task must run, or be handed back.
func (l *Ledger) Accept(id int) { l.settle(id, accepted) }

// Reject notes that a task must not run.
func (l *Ledger) Reject(id int) {
	l.settle(id, rejected)
	l.book.Check(!l.Ran(id), "task %d was rejected, and has started", id)
}

func (l *Ledger) settle(id int, fate uint32) {
	l.book.Check(l.entries[id].fate.CompareAndSwap(unsettled, fate), "task %d was settled twice", id)
	l.book.Op()
}

// Run runs the body of a task, as its pool does. Without a gauge the ledger does not count how
// many tasks run at once.
func (l *Ledger) Run(id int, g *Gauge, body func()) {
	e := &l.entries[id]
	n := e.starts.Add(1)
	l.book.Check(n == 1, "task %d has started %d times", id, n)
	l.book.Check(e.fate.Load() != rejected, "task %d has started after it was rejected", id)
	g.Enter()
	defer func() {
		g.Leave()
		e.ends.Add(1)
		l.book.Op()
	}()
	body()
}

// Thrown is what tasks panic with.
type Thrown struct{ ID int }

// Panic ends a task by a panic with [Thrown].
func (l *Ledger) Panic(id int) {
	l.entries[id].panicked.Add(1)
	panic(Thrown{id})
}

// Returned notes that a task was handed back.
func (l *Ledger) Returned(id int) { l.entries[id].returned.Add(1) }

// Accepted returns the tasks that are accepted by now.
func (l *Ledger) Accepted() []int {
	var ids []int
	for id := range l.Given() {
		if l.entries[id].fate.Load() == accepted {
			ids = append(ids, id)
		}
	}
	return ids
}

// Given returns how many tasks have a number by now.
func (l *Ledger) Given() int { return min(int(l.next.Load()), len(l.entries)) }

// Ran reports whether a task has started.
func (l *Ledger) Ran(id int) bool { return l.entries[id].starts.Load() > 0 }

// Ended checks that tasks have run to their ends, which the return of a call has promised.
func (l *Ledger) Ended(call string, ids ...int) {
	for _, id := range ids {
		e := &l.entries[id]
		if !l.book.Check(e.ends.Load() > 0, "%s has returned, and task %d, accepted before, has not finished (started %d times, handed back %d times)",
			call, id, e.starts.Load(), e.returned.Load()) {
			return
		}
	}
}

func (l *Ledger) still(call string, id int) {
	s, n := l.entries[id].starts.Load(), l.entries[id].ends.Load()
	l.book.Check(s == n, "%s has returned, and task %d still runs (%d starts, %d ends)", call, id, s, n)
}

// Quiet checks that no task is under way, which the return of a call has promised.
func (l *Ledger) Quiet(call string) {
	for id := range l.Given() {
		l.still(call, id)
	}
}

// Audit checks each entry of a ledger whose round is over, adds all to the book, and returns
// what the round has come to.
func (l *Ledger) Audit() (t Tally) {
	for id := range l.Given() {
		e := &l.entries[id]
		starts, ends, returned := e.starts.Load(), e.ends.Load(), e.returned.Load()
		few, many := uint32(0), uint32(1) // as often it must have been started or handed back
		switch e.fate.Load() {
		case unsettled:
			l.book.Breach("task %d: the call that handed it over never returned", id)
		case accepted:
			t.Accepted++
			few = 1
		case rejected:
			t.Rejected++
			many = 0
		}
		l.book.Check(few <= starts+returned && starts+returned <= many,
			"task %d was %s: it has run %d times and was handed back %d times",
			id, [...]string{"given", "accepted", "rejected"}[e.fate.Load()], starts, returned)
		l.book.Check(starts == ends, "task %d has started %d times and finished %d times", id, starts, ends)
		t.Finished += uint64(ends)
		t.HandedBack += uint64(returned)
		t.Panicked += uint64(e.panicked.Load())
	}
	l.book.Add(t)
	return t
}
