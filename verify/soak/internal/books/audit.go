package books

// Audit checks each entry of a ledger whose round is over, adds all to the book, and returns
// what the round has come to.
func (l *Ledger) Audit() Tally {
	var t Tally
	for id := range l.count() {
		e := &l.entries[id]
		fate, starts, ends, returned := e.fate.Load(), e.starts.Load(), e.ends.Load(), e.returned.Load()
		switch fate & fates {
		case unsettled:
			l.book.Breach("task %d: the call that handed it over never returned", id)
		case accepted:
			t.Accepted++
			l.book.Check(starts+returned == 1,
				"task %d was accepted: it must run or be handed back once, and has run %d times and was handed back %d times", id, starts, returned)
		case rejected:
			t.Rejected++
			l.book.Check(starts+returned == 0,
				"task %d was rejected, and has run %d times and was handed back %d times", id, starts, returned)
		case offered:
			t.Accepted++
			l.book.Check(starts+returned <= 1,
				"task %d was given to a group: it may run once, and has run %d times and was handed back %d times", id, starts, returned)
			if starts == 0 {
				t.HandedBack++
			}
		}
		l.book.Check(starts == ends, "task %d has started %d times and finished %d times", id, starts, ends)
		t.Finished += uint64(ends)
		t.HandedBack += uint64(returned)
		if ends > 0 && fate&panicking != 0 {
			t.Panicked++
		}
		if ends > 0 && fate&exiting != 0 {
			t.Exited++
		}
	}
	b := l.book
	b.accepted.Add(t.Accepted)
	b.finished.Add(t.Finished)
	b.handedBack.Add(t.HandedBack)
	b.rejected.Add(t.Rejected)
	b.panicked.Add(t.Panicked)
	b.exited.Add(t.Exited)
	return t
}
