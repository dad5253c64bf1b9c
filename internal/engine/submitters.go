package engine

import "github.com/64ed045f/weir/internal/fifo"

// submitters are those that wait for room, first come, first served. All of it
// is under Engine.mu.
type submitters struct {
	all    fifo.List[submitter]
	length int

	// It keeps used places for the next submitter, so that a pool
	// whose producers are faster than its workers does not allocate.
	spare  fifo.List[submitter]
	spares int
}

const maxSpares = 64

// submitter is one that waits.
type submitter struct {
	value   Task
	link    fifo.Link[submitter] // in submitters.all or submitters.spare
	verdict Verdict              // waiting until the submitter has its answer
	parked  bool                 // the submitter receives its verdict from answer
	answer  chan Verdict         // of capacity 1; made when a submitter first parks here

	wakeup *Wakeup              // of the task that waits; nil if it is none
	want   *Want                // of the task that is submitted, if that may start out of turn
	number uint64               // of the task among want's subtasks
	inWant fifo.Link[submitter] // in want.lined
}

// first returns the one that has waited for longest; nil if there is none.
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

// resolve removes s, and lets it go on with verdict.
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

// park makes the submitter at s receive its verdict from s.answer.
func (l *submitters) park(s *submitter) {
	s.parked = true
	if s.answer == nil {
		s.answer = make(chan Verdict, 1)
	}
}

// keep makes a place ready for reuse, whose submitter has received the answer, or never parked.
func (l *submitters) keep(s *submitter) {
	if l.spares < maxSpares {
		l.spare.Prepend(&s.link, s)
		l.spares++
	}
}

// dropSpares forgets the places kept. Their channels may belong to a test bubble
// that is about to end.
func (l *submitters) dropSpares() { l.spare, l.spares = fifo.List[submitter]{}, 0 }
