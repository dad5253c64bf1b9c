package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/64ed045f/weir/internal/program"
)

// withSignals returns a context that SIGINT and SIGTERM cancel, with a *program.Interruption as the cause, so
// that an embedded server ends properly. A second signal ends the process.
//
// withSignals also turns SIGPIPE off, for the same reason: a write to a closed pipe then returns an error.
func withSignals(parent context.Context) context.Context {
	signal.Ignore(syscall.SIGPIPE)
	return program.WithSignals(parent, func(*program.Interruption) { signal.Reset(syscall.SIGINT, syscall.SIGTERM) })
}
