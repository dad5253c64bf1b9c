package peers_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write docs/peers.md and the names in testdata")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
