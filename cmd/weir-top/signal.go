package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// An interruption is the cause of a context that a signal has cancelled.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return "stopped by signal: " + i.signal.String() }

// status is the exit status that a shell reports for a command killed by the signal.
func (i *interruption) status() int { return 128 + int(i.signal) }

// withSignals returns a context that SIGINT and SIGTERM cancel, so that the terminal is restored before the
// process ends. The function interrupted returns the signal that has done so, or nil.
func withSignals(parent context.Context) (ctx context.Context, interrupted func() *interruption) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as SIGINT is for a job in the background of a script
			signal.Notify(signals, s)
		}
	}
	go func() {
		cancel(&interruption{(<-signals).(syscall.Signal)})
	}()
	return ctx, func() *interruption {
		stop, _ := errors.AsType[*interruption](context.Cause(ctx))
		return stop
	}
}
