// Weir is the command-line tool of the Weir library: it does bounded parallel work on files.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/program"
)

// The exit statuses of the tool, besides those of signals.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
)

func main() {
	ctx := withSignals(context.Background())
	err := newCommand(sum.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).ExecuteContext(ctx)
	os.Exit(status(err))
}

// status reports an error that has not been reported yet, and returns the exit status.
func status(err error) int {
	if err == nil {
		return statusOK
	}
	if stop, ok := errors.AsType[*program.Interruption](err); ok {
		return stop.Status()
	}
	if errors.Is(err, sum.ErrFailed) {
		return statusFailed
	}
	fmt.Fprintf(os.Stderr, "weir: %v\n", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return statusUsage
	}
	return statusFailed
}
