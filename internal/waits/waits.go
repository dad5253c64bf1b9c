// Package waits knows what waits for what, and finds at once what would wait for itself.
package waits

import (
	"cmp"
	"slices"
)

// Order is an order of nodes in which each comes before those that it waits for. It must not be used by several goroutines at once, nor the nodes.
//
// What would wait for itself is sought between the two places in question alone, where most often there is little (David J. Pearce and Paul H. J.
// Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", 2006). That takes time where a node comes to wait for one that was there
// before it, and with which many others have come to be connected since.
type Order struct{ first, last int }

// Node is what waits for others, and others for it. It is forgotten with them.
type Node struct {
	at        int
	waitsFor  map[*Node]int // how many times
	awaitedBy map[*Node]struct{}
}

// Add adds n, for which by waits from then on; with nil none does. Each Add and Wait lasts until a call of Leave.
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

// Wait notes that by waits for n. Both have been added. It reports false if by would wait for itself, and notes nothing then.
func (o *Order) Wait(by, n *Node) bool {
	if by == n || by.at > n.at && !n.movesBehind(by) {
		return false
	}
	by.link(n)
	return true
}

// Leave undoes one Wait for other, or its Add.
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

// movesBehind exchanges places so that n, and what it waits for, come after by, and what waits for that. It reports false, and changes nothing, if n waits
// for by.
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
