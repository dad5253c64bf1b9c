// Package behaviour shows what Weir and the other libraries do in two sets of tests: situations, in most of
// which at least one of them fails, and the features that a well-known survey compares.
//
// Each program does exactly what its scenario says, with a library's public functions and as the library's
// documentation says. The file of a library says how its pools and groups are made, and has the programs that
// only this library needs. There is no program for a feature that a library does not have. What several
// libraries share (the order of events, and the checks) is in open.go, steps.go, surroundings.go and
// features.go, so that all are asked the same question.
package behaviour

import (
	_ "embed" // the questions
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A Scenario is one situation, with a program for each library that offers the feature it needs.
type Scenario struct {
	ID    string
	Title string // what is done
	Want  string // what a user expects

	// Limit is how long a program may go without progress before it counts as hung.
	Limit time.Duration

	Programs map[string]func(Env) error // by library; no entry: not offered
}

// An Env is what a program gets.
type Env struct {
	// Full allows the program to take the minutes that a rare failure needs.
	Full bool

	tell func(kind, text string)
}

// Step reports what the program does next. The lab shows the last step of a program that makes no more progress.
func (e Env) Step(format string, args ...any) { e.tell(tellStep, fmt.Sprintf(format, args...)) }

// Note reports a text that the lab shows with a pass. The last note counts.
func (e Env) Note(format string, args ...any) { e.tell(tellNote, fmt.Sprintf(format, args...)) }

// programs are the programs of one library, by scenario or feature.
type programs map[string]func(Env) error

// libraries are all libraries, in the order of the tables.
var libraries = []struct {
	name     string
	programs func() programs
}{
	{peer.Weir, weirPrograms}, {peer.Go, plainPrograms}, {"errgroup", errgroupPrograms}, {"conc", concPrograms},
	{"ants", antsPrograms}, {"pond", pondPrograms}, {"workerpool", workerpoolPrograms}, {"gopool", gopoolPrograms},
}

// Libraries returns the names of all libraries, in the order of the tables.
func Libraries() []string {
	var names []string
	for _, l := range libraries {
		names = append(names, l.name)
	}
	return names
}

// hung is the limit of a program that, if it ends, ends in far less than a second. The first scenario has
// more to do between two reports of progress.
const (
	hung  = 5 * time.Second
	first = "01"
)

// questions has a line for each scenario, and then for each feature: its ID, what is done, and what a user expects.
//
//go:embed questions.txt
var questions string

// Scenarios returns the situations.
func Scenarios() []Scenario {
	return slices.DeleteFunc(all(), func(s Scenario) bool { return s.ID[0] > '9' })
}

// Features returns the five columns that the survey compares.
func Features() []Scenario {
	return slices.DeleteFunc(all(), func(s Scenario) bool { return s.ID[0] <= '9' })
}

// all returns the situations and the features. It panics if a library has a program for what is neither.
func all() (list []Scenario) {
	for line := range strings.Lines(questions) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		s := Scenario{ID: parts[0], Title: parts[1], Want: parts[2], Limit: hung, Programs: make(map[string]func(Env) error)}
		if s.ID == first {
			s.Limit = 2 * hung
		}
		list = append(list, s)
	}
	for _, l := range libraries {
		for id, program := range l.programs() {
			k := slices.IndexFunc(list, func(s Scenario) bool { return s.ID == id })
			list[k].Programs[l.name] = program
		}
	}
	return list
}
