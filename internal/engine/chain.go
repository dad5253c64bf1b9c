package engine

// chain is a list whose links stand in its members, so that each can leave it at once.
type chain[M any] struct{ first *link[M] }

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
