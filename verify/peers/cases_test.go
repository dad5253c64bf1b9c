package peers_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/verify/peers"
)

// all has the peers in the order of the page.
var all = []peers.Peer{errgroupPeer, concPeer, antsPeer, pondPeer, workerpoolPeer}

// names are those of tests.
type names []string

// agrees is a table of what Weir does in the same way as a peer: tests of the peer, the behaviour
// that they pin, and the library's tests that show it.
type agrees []struct {
	theirs    names
	behaviour string
	ours      names
}

// and returns the cases of the table, with those that have code of their own.
func (table agrees) and(own ...[]peers.Case) []peers.Case {
	var cases []peers.Case
	for _, row := range table {
		cases = append(cases, peers.Case{Theirs: row.theirs, Behaviour: row.behaviour, Ours: row.ours})
	}
	return append(cases, slices.Concat(own...)...)
}

func TestCases(t *testing.T) {
	for _, peer := range all {
		t.Run(peer.Name, func(t *testing.T) {
			for _, c := range peer.Cases {
				if c.Run != nil { // else the library's tests show it
					t.Run(c.Name, func(t *testing.T) { synctest.Test(t, c.Run) })
				}
			}
		})
	}
}
