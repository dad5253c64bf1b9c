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
