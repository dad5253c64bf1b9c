// Command lab measures the cost and the behaviour of Weir, plain goroutines and other libraries, side by side
// on one machine.
//
//	go run ./lab                        all suites, in six minutes on two cores
//	go run ./lab -full -suite dispatch  one suite with everything, ten rounds
//	go run ./lab -scenario 9            one scenario, every library
//	go run ./lab -list                  what there is
//
// METHOD.md says what each suite measures, and how such figures can mislead.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/overload"
	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := lab(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// lab is the whole command. It returns the exit status.
func lab(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 3 && args[0] == suite.ProgramFlag {
		return behaviour.Child(args[1], args[2])
	}
	if len(args) == 3 && args[0] == overload.Flag {
		return overload.Child(args[1], args[2], stdout, stderr)
	}
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		say(stderr, "lab: %v; -help has all flags", err)
		return 2
	}
	err = o.do(ctx, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		say(stderr, "lab: interrupted: %v", err)
		return 130 // as shells have it
	case err != nil:
		say(stderr, "lab: %v", err)
		return 1
	}
	return 0
}

// say writes a line to the standard error. It ignores an error, as there is nowhere left to report it.
func say(stderr io.Writer, format string, args ...any) {
	log.New(stderr, "", 0).Printf(format, args...)
}

// do runs what the options ask for.
func (o *options) do(ctx context.Context, stdout, stderr io.Writer) error {
	switch {
	case o.child != "":
		target := 40 * time.Millisecond // how long the clock of one measurement runs, where the lab can choose that
		if o.Full {
			target = 100 * time.Millisecond
		}
		return run.Child(stdout, suite.Plan(o.Scale), o.child, target, o.out)
	case o.list:
		return o.showList(stdout)
	case o.tables:
		return publish()
	}
	// A run without a named folder has a new one, so that no run overwrites the results of another.
	o.out = cmp.Or(o.out, filepath.Join("lab-report", time.Now().Format("2006-01-02-150405")))
	if len(o.from) > 0 {
		return o.showAgain(stdout, stderr)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	return o.measure(ctx, stdout, stderr)
}
