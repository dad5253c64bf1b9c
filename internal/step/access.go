package step

// access says when a shared thing was last read and last changed, in moments of the execution.
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
// A goroutine is preempted before it reads a word. Others run, and none of them changes that word. Then the
// goroutine goes on, reads, and comes to its next step. The same would have happened if it had been preempted
// at that next step, with the same number of preemptions. The search visits that execution, too. So it gives
// this one up, and with it all executions that would begin in the same way. execution.late says that the
// running goroutine was preempted, and has since done nothing whose order matters. This is sleep sets
// (Godefroid 1996), reduced to what remains true when preemptions are counted.
//
// An operation that is no access to a word, a mutex or the books of the scene always counts as one whose order
// matters.

// tells notes that the running goroutine does something whose order relative to other goroutines may matter.
func (e *execution) tells() { e.late = false }
