package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long a command may clean up after a signal. Then the process ends in any case. A read from a
// terminal or from a dead network drive can't be cancelled, and the user should not have to press Ctrl-C twice.
const grace = 50 * time.Millisecond

// An interruption is the cause of a context that a signal has cancelled.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return "stopped by signal: " + i.signal.String() }

// status is the exit status that a shell reports for a command killed by the signal.
func (i *interruption) status() int { return 128 + int(i.signal) }

// withSignals returns a context that SIGINT and SIGTERM cancel, with an *interruption as the cause.
//
// It also ignores SIGPIPE. A write to a closed pipe is then an error, which leaves time to remove the
// progress bar from the screen.
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
		stop := &interruption{(<-signals).(syscall.Signal)}
		cancel(stop)
		time.Sleep(grace)
		os.Exit(stop.status())
	}()
	return ctx
}
