package engine

import "github.com/64ed045f/weir/internal/fifo"

// submitters are the submitters that wait for room (in awaitRoom), first come, first served. Everything here is
// under Engine.mu.
type submitters struct {
	all    fifo.List[submitter]
	length int

	// spare keeps used items for later submitters, so that a pool whose producers are faster than its workers
	// does not allocate.
	spare  fifo.List[submitter]
	spares int
}

const maxSpares = 64

// submitter is one submitter that waits.
type submitter struct {
	value   Task
	link    fifo.Link[submitter] // in submitters.all or submitters.spare
	verdict Verdict              // it is waiting until the submitter has its answer
	parked  bool                 // the submitter receives its verdict from answer
	answer  chan Verdict         // of capacity 1; made when a submitter parks with this item for the first time

	wakeup *Wakeup              // of the task that waits; nil if the submitter is no task
	want   *Want                // of the submitted task, if it may start out of turn
	number uint64               // of the submitted task among want's subtasks
	inWant fifo.Link[submitter] // in want.submitters
}

// first returns the submitter that has waited for longest; nil if there is none.
func (l *submitters) first() *submitter { return l.all.First().Of() }

func (l *submitters) join(v Task) *submitter {
	s := l.spare.First().Of()
	if s == nil {
		s = new(submitter)
	} else {
		l.spare.Remove(&s.link)
		l.spares--
	}
	s.value, s.verdict, s.parked = v, waiting, false
	l.all.Append(&s.link, s)
	l.length++
	return s
}

// resolve removes s, and lets its submitter go on with verdict.
func (l *submitters) resolve(s *submitter, verdict Verdict) {
	l.all.Remove(&s.link)
	l.length--
	if s.want != nil {
		s.want.submitters.Remove(&s.inWant)
		s.want = nil
	}
	var zero Task
	s.value, s.verdict = zero, verdict
	if s.parked {
		s.wakeup.Notify()
		s.wakeup = nil
		s.answer <- verdict
	}
}

// park makes the submitter of s receive its verdict from s.answer.
func (l *submitters) park(s *submitter) {
	s.parked = true
	if s.answer == nil {
		s.answer = make(chan Verdict, 1)
	}
}

// keep makes s ready for reuse. Its submitter has received the answer, or has never parked.
func (l *submitters) keep(s *submitter) {
	if l.spares < maxSpares {
		l.spare.Prepend(&s.link, s)
		l.spares++
	}
}

// dropSpares drops the spare items. Their channels may belong to a test bubble that is about to end.
func (l *submitters) dropSpares() { l.spare, l.spares = fifo.List[submitter]{}, 0 }
