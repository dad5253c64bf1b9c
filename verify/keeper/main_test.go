package keeper_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The flag may still say otherwise.
	if err := flag.Set("rapid.checks", "1000"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
