// Package tool is the command: it runs the loads under each setting in a process of its own, shows its
// progress, and prints the results in the end.
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

	"github.com/64ed045f/weir/verify/soak/internal/books"
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
		return o.runChild(stdin, stdout)
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
	p := newProgress(stderr, o.length)
	var all []result
	for _, s := range ready {
		all = append(all, o.run(ctx, s, share, p))
		if len(all[len(all)-1].Breaches) > 0 || ctx.Err() != nil {
			break
		}
	}
	p.stop()
	showTable(stdout, all)
	last := all[len(all)-1]
	switch {
	case len(last.Breaches) > 0:
		showBreaches(stderr, last)
		say(stderr, "soak: BROKEN under %s; to try again: go run ./verify/soak -for %v -seed %d -settings %s\n",
			last.setting.name, share, o.seed, last.setting.name)
		return exitBreach
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFine
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

// showBreaches prints what went wrong, and the stacks last, as they are long.
func showBreaches(w io.Writer, r result) {
	for _, b := range r.Breaches {
		say(w, "soak: breach under %s, load %s: %s\n", r.setting.name, b.Load, b.What)
	}
	say(w, "\nall goroutines at the first breach:\n\n%s\n\nwhat the process wrote:\n\n%s\n", r.Breaches[0].Stacks, r.stderr)
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

// showTable prints the results of all settings.
func showTable(w io.Writer, all []result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, t books.Tally) string {
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, t.Rounds, t.Accepted, t.Finished, t.HandedBack, t.Rejected, t.Panicked, t.Looks)
	}
	say(t, "load\trounds\taccepted\tfinished\thanded back\trejected\tpanicked\tlooks\t\n")
	var sum books.Tally
	for _, l := range load.All() {
		var tally books.Tally
		for _, r := range all {
			tally.Add(r.Tallies[l.Name])
		}
		if tally.Rounds > 0 {
			say(t, "%s", row(l.Name, tally))
			sum.Add(tally)
		}
	}
	say(t, "%s\n", row("all loads", sum))
	say(t, "setting\ttime\ttasks\tgoroutines\theap KiB\tobjects\tat the end\theap KiB\tobjects\t\n")
	for _, r := range all {
		var finished uint64
		for _, tally := range r.Tallies {
			finished += tally.Finished
		}
		say(t, "%s\t%v\t%d\t", r.setting.name, r.took.Round(time.Second), finished)
		if n := len(r.Series); n > 0 {
			for _, v := range []books.Vitals{r.Series[0], r.Series[n-1]} {
				say(t, "%d\t%d\t%d\t", v.Goroutines, v.Heap>>10, v.Objects)
			}
		}
		say(t, "\n")
	}
	_ = t.Flush()
	say(w, "\ngoroutines, heap and objects: when a setting has begun, and at its end, after a garbage collection\n")
}

// say prints for people. It ignores errors: there is nowhere left to report them.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
