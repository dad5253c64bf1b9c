// Package tool is the command: it runs the loads under each setting in a process of its own, which says how far it
// is, and what the loads have come to.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/load"
)

// Exit codes, as a shell has them.
const (
	exitFine        = 0
	exitBreach      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// options is the command line.
type options struct {
	length   time.Duration
	seed     uint64
	patience time.Duration
	overrun  time.Duration
	race     bool
	list     bool
	loads    []load.Load
	settings []setting

	child bool // this process runs the loads, under the setting it was started with
	spin  int  // goroutines that compute meanwhile
}

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
		return o.runChild(stdin, stdout, stderr)
	}
	return o.soak(ctx, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	set := flag.NewFlagSet("soak", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.DurationVar(&o.length, "for", 10*time.Minute, "how long to run; each setting gets an equal share")
	set.Uint64Var(&o.seed, "seed", rand.Uint64(), "of all random choices; what the scheduler does is not among them")
	set.DurationVar(&o.patience, "patience", time.Minute, "after how long without any progress a load hangs")
	set.DurationVar(&o.overrun, "overrun", 5*time.Minute, "how long a setting may take beyond its share, on a slow machine")
	set.BoolVar(&o.race, "race", false, "add the setting race, which builds with the race detector")
	set.BoolVar(&o.list, "list", false, "list loads and settings")
	loads := set.String("loads", "", "only these loads, separated by commas")
	settings := set.String("settings", "", "only these settings, separated by commas")
	set.BoolVar(&o.child, "child", false, "for the command's own use: run the loads in this process")
	set.IntVar(&o.spin, "spin", 0, "for the command's own use: so many goroutines compute meanwhile")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if o.length <= 0 || o.patience <= 0 || o.overrun <= 0 {
		return nil, errors.New("a time must be above 0")
	}
	var err error
	if o.loads, err = choose("load", *loads, load.All(), func(l load.Load) string { return l.Name }); err != nil {
		return nil, err
	}
	if o.settings, err = choose("setting", *settings, allSettings, func(s setting) string { return s.name }); err != nil {
		return nil, err
	}
	if *settings == "" && !o.race {
		o.settings = slices.DeleteFunc(o.settings, func(s setting) bool { return s.name == raceSetting })
	}
	return o, nil
}

// choose returns those of all whose names are in a list, or all for none.
func choose[T any](kind, list string, all []T, name func(T) string) ([]T, error) {
	if list == "" {
		return slices.Clone(all), nil
	}
	var chosen []T
	for want := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == want })
		if i < 0 {
			return nil, fmt.Errorf("there is no %s %q; -list names them", kind, want)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
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
	ready := o.prepare(ctx, dir, stderr)
	if len(ready) == 0 {
		say(stderr, "soak: no setting can run here\n")
		return exitUsage
	}
	share := o.length / time.Duration(len(ready))
	for _, s := range ready {
		say(stdout, "\nsetting %s\n", s.name)
		err := o.run(ctx, s, share, stdout, stderr)
		switch {
		case ctx.Err() != nil:
			return exitInterrupted
		case err != nil:
			say(stderr, "soak: BROKEN under %s: %v; to try again: go run ./verify/soak -for %v -seed %d -settings %s\n",
				s.name, err, share, o.seed, s.name)
			return exitBreach
		}
	}
	say(stderr, "soak: no breach under %d settings\n", len(ready))
	return exitFine
}

func showList(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	say(t, "loads\n")
	for _, l := range load.All() {
		say(t, "  %s\t%s\n", l.Name, l.About)
	}
	say(t, "settings\n")
	for _, s := range allSettings {
		say(t, "  %s\t%s\n", s.name, s.about)
	}
	_ = t.Flush() // as with every print here, an error has no reader
}

// say prints for people. It ignores errors: there is nowhere left to report them.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
