package peers_test

import (
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/verify/peers"
)

// all has the peers in the order of the page.
var all = []peers.Peer{errgroupPeer, concPeer, antsPeer, pondPeer, workerpoolPeer}

func TestCases(t *testing.T) {
	for _, peer := range all {
		t.Run(peer.Name, func(t *testing.T) {
			for _, c := range peer.Cases {
				t.Run(c.Name, func(t *testing.T) {
					if c.Outside {
						c.Run(t)
					} else {
						synctest.Test(t, c.Run)
					}
				})
			}
		})
	}
}
