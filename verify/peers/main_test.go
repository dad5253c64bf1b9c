package peers_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write docs/peers.md and the names in testdata")

func TestMain(m *testing.M) {
	if inChild() {
		os.Exit(m.Run()) // what a process that crashes leaves behind is of no interest
	}
	goleak.VerifyTestMain(m)
}
