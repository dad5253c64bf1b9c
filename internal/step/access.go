package step

// access says when a shared thing was last read and last changed: at which moments of the
// execution.
type access struct{ read, changed int }

// touch notes an access by the running goroutine.
func (a *access) touch(change bool) {
	e := current
	if e == nil {
		return
	}
	if e.late && (a.changed >= e.since || change && a.read >= e.since) {
		e.late = false
	}
	if change {
		a.changed = e.moment
	} else {
		a.read = e.moment
	}
}

// # Preemptions that come to the same
//
// A goroutine is preempted before it reads a word. Others run, and none of them changes
// that word. Then it goes on, reads, and comes to its next step. The same would have happened
// had it been preempted there, with the same number of preemptions, and the search
// visits that execution, too. So it gives this one up, and with it all that would
// begin in the same way: execution.late says that the running goroutine was preempted, and has
// since done nothing that could tell. It is sleep sets (Godefroid 1996), reduced to what remains
// true when preemptions are counted.
//
// What is no access to a word, a mutex or the books of the scene could always tell.

// tells notes that the running goroutine does something whose order with what others do
// may matter.
func (e *execution) tells() { e.late = false }
