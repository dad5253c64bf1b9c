package streams_test

import (
	"flag"
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	// The flag may still say otherwise.
	if err := flag.Set("rapid.checks", "1500"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
