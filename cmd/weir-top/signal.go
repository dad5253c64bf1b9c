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

// status is what a shell reports of a command that died of the signal.
func (i *interruption) status() int { return 128 + int(i.signal) }

// withSignals returns a context that SIGINT and SIGTERM cancel, so that the terminal is set right before the process ends; and a function that returns
// which of them has done so, or nil.
func withSignals(parent context.Context) (ctx context.Context, interrupted func() *interruption) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		cancel(&interruption{(<-signals).(syscall.Signal)})
	}()
	return ctx, func() *interruption {
		stop, _ := errors.AsType[*interruption](context.Cause(ctx))
		return stop
	}
}
