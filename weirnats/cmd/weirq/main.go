// Weirq looks after queues of package [github.com/64ed045f/weir/weirnats]: it lists them, shows what is in
// them, and replays or removes dead letters.
//
//	go install github.com/64ed045f/weir/weirnats/cmd/weirq@latest
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/64ed045f/weir/internal/program"
)

// The exit statuses of the tool, in addition to those of a signal.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
)

// streams are what the tool reads and writes.
type streams struct {
	in        io.Reader
	out, errs io.Writer
	asks      bool // in and errs are a terminal, at which there may be a user to ask
}

func main() {
	asks := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	os.Exit(run(withSignals(context.Background()), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, asks}))
}

// errNoReader is the error of a write to a pipe whose reader, such as head, has ended.
var errNoReader = errors.New("no reader")

// output keeps the first error of a write, because the code that prints the help does not return it.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		err = errNoReader
	}
	o.err = cmp.Or(o.err, err)
	return n, err
}

// run is the tool. It returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	out := &output{Writer: s.out}
	s.out = out
	root := newCommand(s)
	root.SetArgs(args)
	err := cmp.Or(root.ExecuteContext(ctx), out.err)
	if stop, ok := errors.AsType[*program.Interruption](context.Cause(ctx)); ok {
		return stop.Status()
	}
	if err == nil || errors.Is(err, errNoReader) {
		return statusOK
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "weirnats: "), "\n", "; ")
	usage, ok := errors.AsType[*usageError](err)
	if ok {
		text += fmt.Sprintf("; try '%s --help'", usage.command.CommandPath())
	}
	_, _ = fmt.Fprintln(s.errs, "weirq:", clean(text, maxMessage)) // the exit status reports the failure too
	if ok {
		return statusUsage
	}
	return statusFailed
}
