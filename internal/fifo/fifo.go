// Package fifo is the doubly linked list of this module: queues, stacks, and sets whose members leave in any order. The
// links are in the members, so that nothing is allocated and each can leave at once.
package fifo

// List is a list of members. The zero List is empty.
type List[M any] struct{ first *Link[M] }

// Link is a member's place in a list. A member that may be in several lists at once has one for each.
type Link[M any] struct {
	of         *M
	next, prev *Link[M] // prev of the first is the last
}

// Of returns the member; nil if the link is in no list, or is nil.
func (l *Link[M]) Of() *M {
	if l == nil {
		return nil
	}
	return l.of
}

// Next returns the link behind l; nil if l is the last.
func (l *Link[M]) Next() *Link[M] { return l.next }

// Before returns the link before l; nil if l is the first.
func (c *List[M]) Before(l *Link[M]) *Link[M] {
	if l == c.first {
		return nil
	}
	return l.prev
}

// First returns the link of the first member; nil if there is none.
func (c *List[M]) First() *Link[M] { return c.first }

// Last returns the link of the last member; nil if there is none.
func (c *List[M]) Last() *Link[M] {
	if c.first == nil {
		return nil
	}
	return c.first.prev
}

// Prepend puts m at the front, by its link l, which must be free.
func (c *List[M]) Prepend(l *Link[M], m *M) {
	c.Append(l, m)
	if c.first != l {
		l.prev.next, l.next, c.first = nil, c.first, l
	}
}

// Append puts m at the end, by its link l, which must be free.
func (c *List[M]) Append(l *Link[M], m *M) {
	if l.of, l.prev = m, l; c.first == nil {
		c.first = l
		return
	}
	l.prev = c.first.prev
	l.prev.next, c.first.prev = l, l
}

// Remove takes the member of l out, if it is in.
func (c *List[M]) Remove(l *Link[M]) {
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
	*l = Link[M]{}
}
