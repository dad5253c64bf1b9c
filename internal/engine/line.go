package engine

import "github.com/64ed045f/weir/internal/fifo"

// line is where submitters wait for room, first come, first served. All of it
// is under Engine.mu.
type line[T any] struct {
	all    fifo.List[submitter[T]]
	length int

	// The line keeps used places for the next submitter, so that a pool
	// whose producers are faster than its workers does not allocate.
	spare  fifo.List[submitter[T]]
	spares int
}

const maxSpares = 64

// submitter is a place in the line.
type submitter[T any] struct {
	value   T
	link    fifo.Link[submitter[T]] // in line.all or line.spare
	verdict Verdict                 // waiting until the submitter has left the line
	parked  bool                    // the submitter receives its verdict from answer
	answer  chan Verdict            // of capacity 1; made when a submitter first parks here

	wakeup *Wakeup                 // of the task that waits; nil if it is none
	want   *Want[T]                // of the task that is submitted, if that may start out of turn
	number uint64                  // of the task in want's source
	seat   fifo.Link[submitter[T]] // in want.lined
}

// first returns the first in the line; nil if there is none.
func (l *line[T]) first() *submitter[T] { return l.all.First().Of() }

func (l *line[T]) join(v T) *submitter[T] {
	s := l.spare.First().Of()
	if s == nil {
		s = new(submitter[T])
	} else {
		l.spare.Remove(&s.link)
		l.spares--
	}
	s.value, s.verdict, s.parked = v, waiting, false
	l.all.Append(&s.link, s)
	l.length++
	return s
}

// leave removes s from the line, and lets its submitter go on with verdict.
func (l *line[T]) leave(s *submitter[T], verdict Verdict) {
	l.all.Remove(&s.link)
	l.length--
	if s.want != nil {
		s.want.lined.Remove(&s.seat)
		s.want = nil
	}
	var zero T
	s.value, s.verdict = zero, verdict
	if s.parked {
		s.wakeup.Tell()
		s.wakeup = nil
		s.answer <- verdict
	}
}

// park makes the submitter at s receive its verdict from s.answer.
func (l *line[T]) park(s *submitter[T]) {
	s.parked = true
	if s.answer == nil {
		s.answer = make(chan Verdict, 1)
	}
}

// keep makes a place ready for reuse, whose submitter has received the answer, or never parked.
func (l *line[T]) keep(s *submitter[T]) {
	if l.spares < maxSpares {
		l.spare.Prepend(&s.link, s)
		l.spares++
	}
}

// release forgets the places kept. Their channels may belong to a test bubble
// that is about to end.
func (l *line[T]) release() { l.spare, l.spares = fifo.List[submitter[T]]{}, 0 }
