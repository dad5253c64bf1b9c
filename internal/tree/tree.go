// Package tree has sets ordered by key.
package tree

import "math/rand/v2"

// Tree is a set of objects, ordered by their keys. No two objects have the same key. Adding, removing and
// finding an object take time logarithmic in the number of objects, and so do First and Last. It is a treap:
// Seidel and Aragon, "Randomized search trees", 1996. The zero Tree is empty. A Tree must not be used by
// several goroutines at once.
type Tree[K Key[K], O any] struct{ root *Node[K, O] }

// Key is the type that orders a tree.
type Key[K any] interface {
	// Before reports whether the key comes before the other one.
	Before(other K) bool
}

// Node is the place of an object in a tree.
type Node[K Key[K], O any] struct {
	of          *O // nil while the node is in no tree
	key         K
	weight      uint64 // random: no node below it is heavier
	left, right *Node[K, O]
}

// Of returns the object, or nil if n is nil or in no tree.
func (n *Node[K, O]) Of() *O {
	if n == nil {
		return nil
	}
	return n.of
}

// Key returns the key with which the object was added.
func (n *Node[K, O]) Key() K { return n.key }

// Add adds o with its node n, which must be in no tree.
func (t *Tree[K, O]) Add(n *Node[K, O], o *O, at K) {
	n.of, n.key, n.weight = o, at, rand.Uint64()
	where := &t.root
	for *where != nil && (*where).weight >= n.weight {
		where = (*where).toward(at)
	}
	n.left, n.right = split(*where, at)
	*where = n
}

// Remove removes the object of n, if it is in the tree.
func (t *Tree[K, O]) Remove(n *Node[K, O]) {
	if n.of == nil {
		return
	}
	where := &t.root
	for *where != n {
		where = (*where).toward(n.key)
	}
	*where = join(n.left, n.right)
	*n = Node[K, O]{}
}

// Find returns the object with the key at, or nil if there is none.
func (t *Tree[K, O]) Find(at K) *O {
	n := t.root
	for n != nil && (at.Before(n.key) || n.key.Before(at)) {
		n = *n.toward(at)
	}
	return n.Of()
}

func (n *Node[K, O]) toward(at K) **Node[K, O] {
	if at.Before(n.key) {
		return &n.left
	}
	return &n.right
}

// split divides n and the nodes below it into those with keys before at and the others.
func split[K Key[K], O any](n *Node[K, O], at K) (before, others *Node[K, O]) {
	switch {
	case n == nil:
		return nil, nil
	case n.key.Before(at):
		n.right, others = split(n.right, at)
		return n, others
	default:
		before, n.left = split(n.left, at)
		return before, n
	}
}

// join undoes split.
func join[K Key[K], O any](before, others *Node[K, O]) *Node[K, O] {
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

// First returns the node with the first key, or nil if the tree is empty.
func (t *Tree[K, O]) First() *Node[K, O] {
	n := t.root
	for n != nil && n.left != nil {
		n = n.left
	}
	return n
}

// Last returns the node with the last key, or nil if the tree is empty.
func (t *Tree[K, O]) Last() *Node[K, O] {
	n := t.root
	for n != nil && n.right != nil {
		n = n.right
	}
	return n
}
