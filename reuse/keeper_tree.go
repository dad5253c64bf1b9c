package reuse

import (
	"math/rand/v2"
	"time"
)

// tree is a set of objects in the order of their keys, each of which is there once. Adding one, removing one,
// and finding the first or last takes a time that grows with the logarithm of their number (a treap: Seidel and
// Aragon, "Randomized search trees", 1996).
type tree[T any] struct{ root *node[T] }

// node is an object's place in a tree.
type node[T any] struct {
	of          *object[T] // nil while it is in none
	key         key
	weight      uint64 // random: no node below it is heavier
	left, right *node[T]
}

type key struct {
	time  time.Duration
	place uint64
}

func (k key) before(other key) bool {
	return k.time < other.time || k.time == other.time && k.place < other.place
}

// add puts o in by its node n, which must be free.
func (t *tree[T]) add(n *node[T], o *object[T], at key) {
	n.of, n.key, n.weight = o, at, rand.Uint64()
	where := &t.root
	for *where != nil && (*where).weight >= n.weight {
		where = (*where).toward(at)
	}
	n.left, n.right = split(*where, at)
	*where = n
}

// remove takes the object of n out, if it is in.
func (t *tree[T]) remove(n *node[T]) {
	if n.of == nil {
		return
	}
	where := &t.root
	for *where != n {
		where = (*where).toward(n.key)
	}
	*where = join(n.left, n.right)
	*n = node[T]{}
}

func (n *node[T]) toward(at key) **node[T] {
	if at.before(n.key) {
		return &n.left
	}
	return &n.right
}

// split divides the nodes below n, and n, into those before at and the others.
func split[T any](n *node[T], at key) (before, others *node[T]) {
	switch {
	case n == nil:
		return nil, nil
	case n.key.before(at):
		n.right, others = split(n.right, at)
		return n, others
	default:
		before, n.left = split(n.left, at)
		return before, n
	}
}

// join undoes split.
func join[T any](before, others *node[T]) *node[T] {
	switch {
	case before == nil:
		return others
	case others == nil:
		return before
	case before.weight > others.weight:
		before.right = join(before.right, others)
		return before
	default:
		others.left = join(before, others.left)
		return others
	}
}

// first returns the node with the first key; nil if there is none.
func (t *tree[T]) first() *node[T] {
	n := t.root
	for n != nil && n.left != nil {
		n = n.left
	}
	return n
}

// last returns the node with the last key; nil if there is none.
func (t *tree[T]) last() *node[T] {
	n := t.root
	for n != nil && n.right != nil {
		n = n.right
	}
	return n
}
