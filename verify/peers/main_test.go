package peers_test

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/verify/peers"
)

var update = flag.Bool("update", false, "write docs/peers.md and the names in testdata")

// all has the peers in the order of the page.
var all = []peers.Peer{errgroupPeer, concPeer, antsPeer, pondPeer, workerpoolPeer}

func TestMain(m *testing.M) {
	if inChild() {
		os.Exit(m.Run()) // what a process that crashes leaves behind is of no interest
	}
	goleak.VerifyTestMain(m)
}

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
