package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// An interruption is the cause of a context that a signal has cancelled.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return "stopped by signal: " + i.signal.String() }

// status returns what a shell reports for a command that died of the signal.
func (i *interruption) status() int { return 128 + int(i.signal) }

// withSignals returns a context that SIGINT and SIGTERM cancel, with an *interruption as the cause, so that
// an embedded server ends properly. A second signal ends the process.
//
// withSignals also turns SIGPIPE off, for the same reason: a write to a closed pipe then returns an error.
func withSignals(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as SIGINT is for a job in the background of a script
			signal.Notify(signals, s)
		}
	}
	go func() {
		cancel(&interruption{(<-signals).(syscall.Signal)})
		signal.Stop(signals)
	}()
	return ctx
}
