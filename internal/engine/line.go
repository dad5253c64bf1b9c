package engine

// line is where submitters wait for room, first come, first served. All of it
// is under Engine.mu.
type line[T any] struct {
	first, last *submitter[T]
	length      int

	// Used places are kept for the next submitter, so that a pool
	// whose producers are faster than its workers does not allocate.
	spare  *submitter[T]
	spares int
}

const maxSpares = 64

// submitter is a place in the line.
type submitter[T any] struct {
	value      T
	prev, next *submitter[T]
	verdict    Verdict      // waiting until the submitter has left the line
	parked     bool         // the submitter receives its verdict from answer
	answer     chan Verdict // of capacity 1; made when a submitter first parks here

	wakeup *Wakeup            // of the task that waits; nil if it is none
	want   *Want[T]           // of the task that is submitted, if that may start out of turn
	number uint64             // of the task in want's source
	seat   link[submitter[T]] // in want.lined
}

func (l *line[T]) join(v T) *submitter[T] {
	s := l.spare
	if s == nil {
		s = new(submitter[T])
	} else {
		l.spare, s.next = s.next, nil
		l.spares--
	}
	s.value, s.verdict, s.parked = v, waiting, false
	s.prev = l.last
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
	l.length++
	return s
}

// leave takes s out of the line and lets it go with verdict.
func (l *line[T]) leave(s *submitter[T], verdict Verdict) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	l.length--
	if s.want != nil {
		s.want.lined.remove(&s.seat)
		s.want = nil
	}
	var zero T
	s.value, s.prev, s.next = zero, nil, nil
	s.verdict = verdict
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

// keep takes back a place whose answer has been received, or that never parked.
func (l *line[T]) keep(s *submitter[T]) {
	if l.spares < maxSpares {
		s.next = l.spare
		l.spare = s
		l.spares++
	}
}

// release forgets the places kept. Their channels may belong to a test bubble
// that is about to end.
func (l *line[T]) release() { l.spare, l.spares = nil, 0 }
