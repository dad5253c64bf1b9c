package engine

// chain is a list whose links stand in its members, so that each can leave it at once.
type chain[M any] struct{ first *link[M] }

// link is a member's place in one chain; of is nil while it stands in none.
type link[M any] struct {
	of         *M
	next, prev *link[M] // prev of the first is the last
}

// add puts m at the front, by its link l, which must be free.
func (c *chain[M]) add(l *link[M], m *M) {
	c.append(l, m)
	if c.first != l {
		l.prev.next, l.next, c.first = nil, c.first, l
	}
}

// append puts m at the end, by its link l, which must be free.
func (c *chain[M]) append(l *link[M], m *M) {
	if l.of, l.prev = m, l; c.first == nil {
		c.first = l
		return
	}
	l.prev = c.first.prev
	l.prev.next, c.first.prev = l, l
}

// remove takes the member of l out, if it is in.
func (c *chain[M]) remove(l *link[M]) {
	if l.of == nil {
		return
	}
	if l == c.first {
		c.first = l.next
	} else {
		l.prev.next = l.next
	}
	switch {
	case l.next != nil:
		l.next.prev = l.prev
	case c.first != nil:
		c.first.prev = l.prev
	}
	*l = link[M]{}
}

// round is a queue of absences. Each seat refers to the one behind it, and the last one to the first.
type round[T any] struct{ last *seat[T] }

type seat[T any] struct {
	of     *Absence[T]
	behind *seat[T]
}

// add puts a at the end, on a seat that must be free.
func (r *round[T]) add(s *seat[T], a *Absence[T]) {
	if s.of, s.behind = a, s; r.last != nil {
		s.behind, r.last.behind = r.last.behind, s
	}
	r.last = s
}

// first returns the one that was added before all others, or nil.
func (r *round[T]) first() *Absence[T] {
	if r.last == nil {
		return nil
	}
	return r.last.behind.of
}

// drop takes the first out.
func (r *round[T]) drop() {
	s := r.last.behind
	if s == r.last {
		r.last = nil
	} else {
		r.last.behind = s.behind
	}
	*s = seat[T]{}
}

// length counts the absences that wait for a place. One that has gone on keeps its seat until admit drops it.
func (r *round[T]) length() (n int) {
	if r.last == nil {
		return 0
	}
	for s := r.last.behind; ; s = s.behind {
		if s.of.state == recalled {
			n++
		}
		if s == r.last {
			return n
		}
	}
}
