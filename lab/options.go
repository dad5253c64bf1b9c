package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// options are the options of the command line.
type options struct {
	args []string // the whole command line, as typed

	suite.Scale
	suites, peers []string
	run           *regexp.Regexp
	out           string

	profile      bool
	list, tables bool
	from         []string
	child        string // the measurement that a measuring process should make
}

const usage = `Lab measures what Weir, plain goroutines and other libraries cost, and how they
behave, side by side. Without flags it runs a part of every suite, and ends in
six minutes on two cores.

  go run ./lab [flags]
`

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{args: args}
	flags := flag.NewFlagSet("lab", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller reports a mistake, once
	flags.Usage = func() {}
	words := func(target *[]string) func(string) error {
		return func(text string) error {
			*target = strings.Split(text, ",")
			return nil
		}
	}
	flags.Func("suite", "run only these `suites`, separated by commas: "+strings.Join(suiteNames(), ", "), words(&o.suites))
	flags.Func("peer", "measure only these `peers`: libraries (ants), or forms of one (ants.func)", words(&o.peers))
	flags.Func("run", "run only experiments whose name, as -list shows it, matches the `regexp`", func(text string) (err error) {
		o.run, err = regexp.Compile(text)
		return err
	})
	flags.Func("scenario", "run only this scenario of suite behaviour, by `number`", func(number string) (err error) {
		all := behaviour.Scenarios()
		if !slices.ContainsFunc(all, func(s behaviour.Scenario) bool { return s.ID == number || s.ID == "0"+number }) {
			return fmt.Errorf("there are %s to %s", all[0].ID, all[len(all)-1].ID)
		}
		o.run, err = regexp.Compile("^behaviour/0?" + number + "/")
		return err
	})
	flags.BoolVar(&o.Full, "full", false, "measure everything, in ten rounds: the results can be published. Takes hours")
	flags.IntVar(&o.Rounds, "rounds", 0, "how many `turns` each peer has at each experiment, instead of the usual")
	flags.IntVar(&o.Cores, "cores", runtime.GOMAXPROCS(0), "how many `cores` count as all")
	flags.StringVar(&o.out, "out", "", "the `folder` for the raw results and report.html, instead of a new one in lab-report")
	flags.BoolVar(&o.profile, "profile", false, "keep a CPU and a heap profile of each measurement in the output folder; this slows it down")
	flags.BoolVar(&o.list, "list", false, "list suites, experiments and peers, and measure nothing")
	flags.Func("from", "measure nothing, and show the results in these raw `files`, separated by commas", words(&o.from))
	flags.BoolVar(&o.tables, "tables", false, "measure nothing, and write the tables of README.md and docs anew from lab/results")
	flags.StringVar(&o.child, "child", "", "make the one measurement of this `name`: what lab calls itself with")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		say(stderr, "%s", usage)
		flags.PrintDefaults()
	}
	if err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no flag: there are only flags, and they come first", flags.Arg(0))
	}
	return o, o.check()
}

// check refuses names that select nothing: a run without them would look complete.
func (o *options) check() error {
	if o.Cores < 1 || o.Rounds < 0 {
		return fmt.Errorf("there must be at least 1 core, got %d, and no fewer than 0 rounds, got %d", o.Cores, o.Rounds)
	}
	for _, name := range o.suites {
		if !slices.Contains(suiteNames(), name) {
			return fmt.Errorf("no suite is called %q; there are %s", name, strings.Join(suiteNames(), ", "))
		}
	}
	for _, name := range o.peers {
		if !slices.ContainsFunc(peerNames(), func(known string) bool { return isCalled(known, name) }) {
			return fmt.Errorf("no peer is called %q; there are %s", name, strings.Join(peerNames(), ", "))
		}
	}
	if o.list || o.tables || len(o.from) > 0 || o.child != "" {
		return nil
	}
	if len(o.plan()) == 0 {
		return errors.New("no experiment fits all these flags; -list shows what there is")
	}
	return nil
}

func suiteNames() []string {
	var names []string
	for _, s := range suite.All() {
		names = append(names, s.Name)
	}
	return names
}

// peerNames returns the names of all peers of all experiments.
func peerNames() []string {
	var names []string
	for _, e := range suite.Plan(suite.Scale{Full: true, Cores: 2}) {
		for _, c := range e.Contenders {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// isCalled reports whether known is the peer called name, or belongs to the library called name.
func isCalled(known, name string) bool { return known == name || peer.LibraryOf(known) == name }

// plan returns the experiments that the flags select.
func (o *options) plan() []suite.Experiment {
	var plan []suite.Experiment
	for _, e := range suite.Plan(o.Scale) {
		if len(o.suites) > 0 && !slices.Contains(o.suites, e.ID.Suite) || o.run != nil && !o.run.MatchString(name(e.ID)) {
			continue
		}
		e.Contenders = slices.DeleteFunc(e.Contenders, func(c suite.Contender) bool {
			return len(o.peers) > 0 && !slices.ContainsFunc(o.peers, func(name string) bool { return isCalled(c.Name, name) })
		})
		if len(e.Contenders) > 0 {
			plan = append(plan, e)
		}
	}
	return plan
}

// name returns the name of the experiment on the command line and in lists.
func name(id record.ID) string {
	return id.Setting() + "/procs=" + strconv.Itoa(id.Procs)
}

// childArguments returns the arguments that make a process measure id at the same scale.
func (o *options) childArguments(id record.ID) []string {
	args := []string{"-child", id.String(), "-cores", strconv.Itoa(o.Cores)}
	if o.Full {
		args = append(args, "-full")
	}
	if o.profile { // what a measuring process has to write are profiles
		args = append(args, "-out", o.out)
	}
	return args
}
