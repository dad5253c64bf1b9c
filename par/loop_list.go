package par

import "slices"

// list is a list that grows without moving its elements.
type list[T any] struct{ parts [][]T }

// add appends a zero element and returns a pointer to it, which stays valid.
func (l *list[T]) add() *T {
	last := len(l.parts) - 1
	if last < 0 || len(l.parts[last]) == cap(l.parts[last]) {
		size := 8
		if last >= 0 {
			size = 2 * len(l.parts[last])
		}
		l.parts = append(l.parts, make([]T, 0, size))
		last++
	}
	n := len(l.parts[last])
	l.parts[last] = l.parts[last][:n+1]
	return &l.parts[last][n]
}

func (l *list[T]) slice() []T { return slices.Concat(l.parts...) }
