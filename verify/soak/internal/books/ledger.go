package books

import (
	"errors"
	"runtime"
	"sync/atomic"
)

// Ledger has an entry for each task of a round: what became of the call that handed it over,
// and how often it was started, ended and handed back.
type Ledger struct {
	book    *Book
	entries []entry
	next    atomic.Int64

	accepted, started atomic.Int64 // to tell how many are queued
	collecting        atomic.Bool  // a task that runs now was handed back, and Collect calls it
}

type entry struct {
	fate                   atomic.Uint32
	starts, ends, returned atomic.Uint32
}

// The fates of a task, and how it says that it will end.
const (
	unsettled = iota // the call has not returned
	accepted         // it must run, or be handed back
	rejected         // it must not run
	offered          // it may run: its group can be cancelled
	fates     = 0xf
	panicking = 0x10
	exiting   = 0x20
	sealed    = 0x40 // its group has ended
)

// NewLedger returns a ledger with room for n tasks.
func NewLedger(b *Book, n int) *Ledger { return &Ledger{book: b, entries: make([]entry, n)} }

// New returns the number of another task, which a call is about to hand over.
func (l *Ledger) New() int { return int(l.next.Add(1)) - 1 }

// Settle notes what the call that handed a task over has returned: no error, or one of those
// that reject a task.
func (l *Ledger) Settle(id int, err error, rejections ...error) {
	if err == nil {
		l.Accept(id)
		return
	}
	l.Reject(id)
	for _, target := range rejections {
		if errors.Is(err, target) {
			return
		}
	}
	l.book.Breach("task %d was rejected with an error that fits nothing: %v", id, err)
}

// Accept notes that a task must run, or be handed back.
func (l *Ledger) Accept(id int) {
	l.settle(id, accepted)
	l.accepted.Add(1)
}

// Reject notes that a task must not run.
func (l *Ledger) Reject(id int) {
	l.settle(id, rejected)
	if n := l.entries[id].starts.Load(); n > 0 {
		l.book.Breach("task %d was rejected, and has started", id)
	}
}

// Offer notes that a task was given to a group that may be cancelled.
func (l *Ledger) Offer(id int) { l.settle(id, offered) }

func (l *Ledger) settle(id int, fate uint32) {
	for e := &l.entries[id]; ; {
		old := e.fate.Load()
		if old&fates != unsettled {
			l.book.Breach("task %d was settled twice", id)
			return
		}
		if e.fate.CompareAndSwap(old, old|fate) {
			l.book.Op()
			return
		}
	}
}

// Run runs the body of a task, as its pool does. Without a gauge the ledger does not count how
// many tasks run at once.
func (l *Ledger) Run(id int, g *Gauge, body func()) {
	e := &l.entries[id]
	if l.collecting.Load() {
		e.returned.Add(1)
		return
	}
	if n := e.starts.Add(1); n > 1 {
		l.book.Breach("task %d has started %d times", id, n)
	}
	switch fate := e.fate.Load(); {
	case fate&fates == rejected:
		l.book.Breach("task %d has started after it was rejected", id)
	case fate&sealed != 0:
		l.book.Breach("task %d has started after its group had ended", id)
	}
	l.started.Add(1)
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
	l.entries[id].fate.Or(panicking)
	panic(Thrown{id})
}

// Exit ends a task by runtime.Goexit.
func (l *Ledger) Exit(id int) {
	l.entries[id].fate.Or(exiting)
	runtime.Goexit()
}

// Returned notes that a task was handed back.
func (l *Ledger) Returned(id int) { l.entries[id].returned.Add(1) }

// Collect calls the functions that a pool has handed back, each of which must call Run, and
// notes their tasks as handed back. No task may run at the time.
func (l *Ledger) Collect(unrun []func()) {
	l.collecting.Store(true)
	defer l.collecting.Store(false)
	for _, task := range unrun {
		task()
	}
}

// Accepted returns the tasks that are accepted by now.
func (l *Ledger) Accepted() []int {
	var ids []int
	for id := range l.count() {
		if l.entries[id].fate.Load()&fates == accepted {
			ids = append(ids, id)
		}
	}
	return ids
}

// Given returns how many tasks have a number by now.
func (l *Ledger) Given() int { return int(l.next.Load()) }

// Ended checks that tasks have run to their ends, which the return of a call has promised.
func (l *Ledger) Ended(call string, ids ...int) {
	for _, id := range ids {
		e := &l.entries[id]
		if e.ends.Load() == 0 {
			l.book.Breach("%s has returned, and task %d, accepted before, has not finished (started %d times, handed back %d times)",
				call, id, e.starts.Load(), e.returned.Load())
			return
		}
	}
}

// Quiet checks that no task is under way, which the return of a call has promised.
func (l *Ledger) Quiet(call string) {
	for id := range l.count() {
		l.still(call, id)
	}
}

// Seal checks that none of these tasks is under way or still to come, which the return of a
// call has promised: those accepted have finished, and none will start.
func (l *Ledger) Seal(call string, ids ...int) {
	for _, id := range ids {
		l.still(call, id)
		if l.entries[id].fate.Or(sealed)&fates == accepted {
			l.Ended(call, id)
		}
	}
}

func (l *Ledger) still(call string, id int) {
	e := &l.entries[id]
	if s, n := e.starts.Load(), e.ends.Load(); s != n {
		l.book.Breach("%s has returned, and task %d still runs (%d starts, %d ends)", call, id, s, n)
	}
}

// Ran reports whether a task has started.
func (l *Ledger) Ran(id int) bool { return l.entries[id].starts.Load() > 0 }

// queued returns about how many tasks are accepted and have not started.
func (l *Ledger) queued() int64 { return l.accepted.Load() - l.started.Load() }

func (l *Ledger) count() int { return min(int(l.next.Load()), len(l.entries)) }
