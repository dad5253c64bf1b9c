package engine

// chain is a list whose links stand in its members, so that each can leave it at once.
type chain[M any] struct{ first *link[M] }

// round is a queue of absences. Each refers to the one behind it, and the last one to the first.
type round[T any] struct{ last *Absence[T] }

func (r *round[T]) add(a *Absence[T]) {
	if r.last == nil {
		a.behind = a
	} else {
		a.behind, r.last.behind = r.last.behind, a
	}
	r.last = a
}

// first returns the one that was added before all others, or nil.
func (r *round[T]) first() *Absence[T] {
	if r.last == nil {
		return nil
	}
	return r.last.behind
}

// drop takes the first out.
func (r *round[T]) drop() {
	a := r.last.behind
	if a == r.last {
		r.last = nil
	} else {
		r.last.behind = a.behind
	}
	a.behind = nil
}

func (r *round[T]) length() (n int) {
	for a := r.first(); a != nil; a = a.behind {
		if n++; a == r.last {
			break
		}
	}
	return n
}

// link is a member's place in one chain; of is nil while it stands in none.
type link[M any] struct {
	of         *M
	next, prev *link[M]
}

// add puts m at the front, by its link l, which must be free.
func (c *chain[M]) add(l *link[M], m *M) {
	l.of, l.next = m, c.first
	if l.next != nil {
		l.next.prev = l
	}
	c.first = l
}

// remove takes the member of l out, if it is in.
func (c *chain[M]) remove(l *link[M]) {
	if l.of == nil {
		return
	}
	if l.prev == nil {
		c.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	}
	*l = link[M]{}
}
