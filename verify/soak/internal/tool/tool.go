// Package tool is the command: it runs the loads under each setting in a process of its own, shows its
// progress, and prints the results in the end.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// Exit codes, as a shell has them.
const (
	exitFine        = 0
	exitBreach      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main is the whole command, and returns its exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitFine
	case err != nil:
		say(stderr, "soak: %v\n", err)
		return exitUsage
	case o.list:
		showList(stdout)
		return exitFine
	case o.child:
		return o.runChild(stdin, stdout)
	}
	return o.soak(ctx, stdout, stderr)
}

// soak runs a child under each setting.
func (o *options) soak(ctx context.Context, stdout, stderr io.Writer) int {
	say(stderr, "soak: seed %d, %v\n", o.seed, o.length)
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		say(stderr, "soak: %v\n", err)
		return exitUsage
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			say(stderr, "soak: %v\n", err)
		}
	}()
	ready, skipped := o.prepare(ctx, dir, stderr)
	if len(ready) == 0 {
		say(stderr, "soak: no setting can run here\n")
		return exitUsage
	}
	share := o.length / time.Duration(len(ready))
	p := newProgress(stderr, o.length)
	var all []result
	code := exitFine
	for _, s := range ready {
		r := o.run(ctx, s, share, p)
		all = append(all, r)
		if len(r.Breaches) > 0 {
			code = exitBreach
			break
		}
		if ctx.Err() != nil {
			code = exitInterrupted
			break
		}
	}
	p.stop()
	showTable(stdout, all, skipped)
	if code == exitBreach {
		last := all[len(all)-1]
		showBreaches(stderr, last)
		say(stderr, "soak: BROKEN under %s; to try again: go run ./verify/soak -for %v -seed %d -settings %s\n",
			last.setting.name, share, o.seed, last.setting.name)
	}
	return code
}

// showBreaches prints what went wrong, and the stacks last, as they are long.
func showBreaches(w io.Writer, r result) {
	var stacks strings.Builder
	for _, b := range r.Breaches {
		say(w, "soak: breach under %s, load %s: %s\n", r.setting.name, b.Load, b.What)
		stacks.WriteString(b.Stacks)
	}
	if stacks.Len() > 0 {
		say(w, "\nall goroutines at the first breach:\n\n%s\n", stacks.String())
	}
	if r.stderr != "" {
		say(w, "\nwhat the process wrote:\n\n%s\n", r.stderr)
	}
}

// result is the outcome of one setting.
type result struct {
	setting setting
	outcome
	stderr string
	took   time.Duration
}

// outcome is the last message of a child.
type outcome struct {
	Tallies  map[string]books.Tally
	Series   []books.Vitals
	Breaches []books.Breach
}

// say prints for people. It ignores errors: there is nowhere left to report them.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
