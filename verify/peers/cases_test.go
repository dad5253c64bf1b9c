package peers_test

import (
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

// differs is a table of what Weir does in another way: it has also what that is, and why.
type differs []struct {
	theirs               names
	behaviour, different string
	ours                 names
}

func (table agrees) cases() (cases []peers.Case) {
	for _, row := range table {
		cases = append(cases, peers.Case{Theirs: row.theirs, Behaviour: row.behaviour, Ours: row.ours})
	}
	return cases
}

func (table differs) cases() (cases []peers.Case) {
	for _, row := range table {
		cases = append(cases, peers.Case{Theirs: row.theirs, Behaviour: row.behaviour, Different: row.different, Ours: row.ours})
	}
	return cases
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
