// Weir-top shows the pools of a running Go program in a terminal, as top shows processes. The program must
// serve the pages of package [github.com/64ed045f/weir/weirdebug]. The command weir runs weir-top as weir top.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/internal/program"
)

// The exit statuses of the tool, besides those of signals.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
)

// maxMessage is the most cells of an error, which may contain text of a server.
const maxMessage = 1000

func main() {
	ctx := program.WithSignals(context.Background(), func(*program.Interruption) {}) // the end of ctx ends the display, which restores the terminal
	err := newCommand().ExecuteContext(ctx)
	if stop, ok := errors.AsType[*program.Interruption](context.Cause(ctx)); ok {
		os.Exit(stop.Status())
	}
	os.Exit(status(err))
}

// status reports an error, and returns the exit status.
func status(err error) int {
	if err == nil {
		return statusOK
	}
	fmt.Fprintf(os.Stderr, "weir-top: %s\n", text.Clean(err.Error(), maxMessage))
	if usage, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(os.Stderr, "Try '%s --help' for more information.\n", usage.command.CommandPath())
		return statusUsage
	}
	return statusFailed
}
