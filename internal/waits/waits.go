// Package waits is a graph of nodes that wait for each other. It refuses a wait that would close a cycle.
package waits

import (
	"cmp"
	"slices"
)

// Order is an order of nodes in which each node comes before the nodes that it waits for. Neither an Order
// nor its nodes may be used by several goroutines at once.
//
// The search for a cycle visits only nodes between the two nodes in question, where most often there are few
// (David J. Pearce and Paul H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs",
// 2006). It takes time if a node starts to wait for an older node, and many others have since been connected
// to the two.
type Order struct{ first, last int }

// Node is something that waits for other nodes, and that other nodes wait for. An Order does not refer to its
// nodes: the nodes refer to each other.
type Node struct {
	at        int
	waitsFor  map[*Node]int // how many times
	awaitedBy map[*Node]struct{}
}

// Add adds n. If by is not nil, by waits for n from now on. Leave ends a wait that Add or Wait has begun.
func (o *Order) Add(n, by *Node) {
	if by == nil {
		o.first--
		n.at = o.first
		return
	}
	o.last++
	n.at = o.last
	by.link(n)
}

// Wait records that by waits for n; both must have been added. If by would then wait for itself, Wait records
// nothing and returns false.
func (o *Order) Wait(by, n *Node) bool {
	if by == n || by.at > n.at && !n.movesBehind(by) {
		return false
	}
	by.link(n)
	return true
}

// Leave undoes one Wait of n for other, or the Add that made n wait for other.
func (n *Node) Leave(other *Node) {
	if n.waitsFor[other]--; n.waitsFor[other] == 0 {
		delete(n.waitsFor, other)
		delete(other.awaitedBy, n)
	}
}

func (n *Node) link(other *Node) {
	if n.waitsFor == nil {
		n.waitsFor = make(map[*Node]int)
	}
	if other.awaitedBy == nil {
		other.awaitedBy = make(map[*Node]struct{})
	}
	n.waitsFor[other]++
	other.awaitedBy[n] = struct{}{}
}

// movesBehind reorders the nodes so that n and what it waits for come after by and what waits for by. If n
// waits for by, it changes nothing and returns false.
func (n *Node) movesBehind(by *Node) bool {
	after := []*Node{n}
	seen := map[*Node]bool{n: true}
	for i := 0; i < len(after); i++ {
		for next := range after[i].waitsFor {
			if next == by {
				return false
			}
			if next.at < by.at && !seen[next] {
				seen[next] = true
				after = append(after, next)
			}
		}
	}
	nodes := []*Node{by}
	seen[by] = true
	for i := 0; i < len(nodes); i++ {
		for next := range nodes[i].awaitedBy {
			if next.at > n.at && !seen[next] {
				seen[next] = true
				nodes = append(nodes, next)
			}
		}
	}
	inOrder := func(x, y *Node) int { return cmp.Compare(x.at, y.at) }
	slices.SortFunc(nodes, inOrder)
	slices.SortFunc(after, inOrder)
	nodes = append(nodes, after...)
	places := make([]int, len(nodes))
	for i, node := range nodes {
		places[i] = node.at
	}
	slices.Sort(places)
	for i, node := range nodes {
		node.at = places[i]
	}
	return true
}
