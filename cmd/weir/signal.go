package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/64ed045f/weir/internal/program"
)

// grace is how long a command may clean up after a signal. Then the process ends in any case. A read from a
// terminal or from a dead network drive can't be cancelled, and the user should not have to press Ctrl-C twice.
const grace = 50 * time.Millisecond

// withSignals returns a context that SIGINT and SIGTERM cancel, with a *program.Interruption as the cause.
//
// It also ignores SIGPIPE. A write to a closed pipe is then an error, which leaves time to remove the
// progress bar from the screen.
func withSignals(parent context.Context) context.Context {
	signal.Ignore(syscall.SIGPIPE)
	return program.WithSignals(parent, func(stop *program.Interruption) {
		time.Sleep(grace)
		os.Exit(stop.Status())
	})
}
