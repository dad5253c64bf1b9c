// Package fifo is the doubly linked list of this module: for queues, for stacks, and for sets whose members
// leave in any order. The links are in the members, so adding a member allocates nothing, and removing one
// takes constant time.
package fifo

// List is a list of members. The zero List is empty.
type List[M any] struct{ first *Link[M] }

// Link is the place of a member in a list. A member that may be in several lists at once has one Link for
// each.
type Link[M any] struct {
	of         *M
	next, prev *Link[M] // prev of the first link is the last link
}

// Of returns the member, or nil if the link is nil or in no list.
func (l *Link[M]) Of() *M {
	if l == nil {
		return nil
	}
	return l.of
}

// Next returns the link after l, or nil if l is the last.
func (l *Link[M]) Next() *Link[M] { return l.next }

// Before returns the link before l, or nil if l is the first.
func (c *List[M]) Before(l *Link[M]) *Link[M] {
	if l == c.first {
		return nil
	}
	return l.prev
}

// First returns the link of the first member, or nil if the list is empty.
func (c *List[M]) First() *Link[M] { return c.first }

// Last returns the link of the last member, or nil if the list is empty.
func (c *List[M]) Last() *Link[M] {
	if c.first == nil {
		return nil
	}
	return c.first.prev
}

// Prepend adds m at the front with its link l, which must be in no list.
func (c *List[M]) Prepend(l *Link[M], m *M) {
	c.Append(l, m)
	if c.first != l {
		l.prev.next, l.next, c.first = nil, c.first, l
	}
}

// Append adds m at the end with its link l, which must be in no list.
func (c *List[M]) Append(l *Link[M], m *M) {
	if l.of, l.prev = m, l; c.first == nil {
		c.first = l
		return
	}
	l.prev = c.first.prev
	l.prev.next, c.first.prev = l, l
}

// Remove removes the member of l, if it is in the list.
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
