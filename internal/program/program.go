// Package program has what this project's commands share: how they end by a signal, and which build they are.
package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// An Interruption is the cause of a context that a signal has cancelled.
type Interruption struct{ Signal syscall.Signal }

// Error names the signal.
func (i *Interruption) Error() string { return "stopped by signal: " + i.Signal.String() }

// Status is the exit status that a shell reports for a command killed by the signal.
func (i *Interruption) Status() int { return 128 + int(i.Signal) }

// WithSignals returns a context that the first SIGINT or SIGTERM cancels, with an *Interruption as the cause.
// It then calls then.
func WithSignals(parent context.Context, then func(*Interruption)) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as SIGINT is for a job in the background of a script
			signal.Notify(signals, s)
		}
	}
	go func() {
		stop := &Interruption{(<-signals).(syscall.Signal)}
		cancel(stop)
		then(stop)
	}()
	return ctx
}

// Version describes this build: the version of the module, the commit if it was built in a checkout, and the
// Go release.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return fmt.Sprintf("%s %s", text, info.GoVersion)
}
