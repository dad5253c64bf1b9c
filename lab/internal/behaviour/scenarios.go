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
	"fmt"
	"time"
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

// Names of the libraries.
const (
	Weir       = "weir"
	Go         = "go" // plain goroutines with a WaitGroup, where that is a way to do it
	Errgroup   = "errgroup"
	Conc       = "conc"
	Ants       = "ants"
	Pond       = "pond"
	Workerpool = "workerpool"
	Gopool     = "gopool"
)

// Libraries returns the names of all libraries, in the order of the tables.
func Libraries() []string {
	return []string{Weir, Go, Errgroup, Conc, Ants, Pond, Workerpool, Gopool}
}

// programs are the programs of one library, by scenario or feature.
type programs map[string]func(Env) error

func byLibrary() map[string]programs {
	return map[string]programs{
		Weir:       weirPrograms(),
		Go:         plainPrograms(),
		Errgroup:   errgroupPrograms(),
		Conc:       concPrograms(),
		Ants:       antsPrograms(),
		Pond:       pondPrograms(),
		Workerpool: workerpoolPrograms(),
		Gopool:     gopoolPrograms(),
	}
}

// hung is the limit of a program that, if it ends, ends in far less than a second. The first scenario has
// more to do between two reports of progress.
const (
	hung  = 5 * time.Second
	first = "01"
)

// A question is what a program does, and what a user expects.
type question struct{ id, title, want string }

// Scenarios returns the situations.
func Scenarios() []Scenario {
	return withPrograms([]question{
		{"01", "limit 1, one submitter, millions of tasks that call runtime.Goexit",
			"all of them run, and none waits without cause"},
		{"02", "4 workers idle, the limit is lowered to 1, 4 tasks are submitted",
			"1 task at once"},
		{"03", "a nil task is submitted, then others",
			"the mistake is told, at the latest by Wait, and the other tasks run"},
		{"04", "a wait with a deadline that passes, then another (without deadlines: a second wait)",
			"the later wait succeeds when the task has ended"},
		{"05", "a limit of 1<<32",
			"tasks run"},
		{"06", "2 of 4 tasks call runtime.Goexit at limit 2, then all are waited for",
			"the wait ends, the other tasks run, and whatever reports errors reports these"},
		{"07", "a task panics, then the pool or group that ran it is used again (libraries that catch panics)",
			"the panic is told once, and the next tasks succeed"},
		{"08", "a group is used again after a Wait that returned an error (some documentation does not offer that: the detail says so)",
			"the second batch starts neither cancelled nor failed"},
		{"09", "both tasks of a pool of 2 hand 2 tasks to that pool and wait for them",
			"all tasks run"},
		{"10", "10 tasks with results, 2 of which return an error",
			"10 results in the order of submission, and the error"},
		{"11", "8 tasks in an ordered stream without a limit",
			"8 tasks at once, results in order"},
		{"12", "10 000 results at limit 1",
			"at most 20 MB allocated in all"},
		{"13", "the pool is stopped, then a task is submitted at once; 200 times",
			"refused each time"},
		{"14", "a group with a limit of its own on a pool; the context above is cancelled while members wait their turn",
			"Wait returns"},
		{"15", "a pool without a queue is busy; a part of it with a limit of its own is offered a task without waiting",
			"the task is refused, or runs"},
		{"16", "a pool is closed while 4 of the 5 tasks of a part of it wait their turn",
			"every task runs, or is refused and told so"},
		{"17", "a submission waits for room, and its context is cancelled: the call's own, or else its group's",
			"the submission returns"},
		{"18", "a group is cancelled by its first error, then gets 10 more tasks",
			"none of them starts"},
		{"19", "used in two testing/synctest bubbles, one after the other",
			"both tests pass"},
		{"20", "limits of 0 and -1",
			"refused, or taken as something under which tasks run"},
		{"21", "the package is imported, 10 pools are made, none is used",
			"no goroutine is started"},
		{"22", "several pools released as one, with a deadline that passes",
			"errors.Is finds the time-out in the error"},
		{"23", "a pool of 1 works for a request with a profiler label, then for another request",
			"nothing bears the first request's label any more"},
		{"24", "limit 1, 2 submitters at once, short tasks that count how many run; up to 20 000 rounds",
			"never 2 tasks at once"},
	})
}

// Features returns the five columns that the survey compares.
func Features() []Scenario {
	return withPrograms([]question{
		{"reuse", "workers are reused: 200 tasks at limit 4",
			"far fewer goroutines than tasks"},
		{"context", "tasks have a context that the first error cancels",
			"a task that waits for its context ends"},
		{"wait", "the library itself waits for the tasks",
			"100 of 100 tasks have ended after the wait"},
		{"errors", "a task returns an error",
			"errors.Is finds it in what the wait returns"},
		{"resize", "the limit is changed from 2 to 6 and back while tasks run",
			"6 tasks at once, then 2"},
	})
}

func withPrograms(questions []question) []Scenario {
	libraries := byLibrary()
	var scenarios []Scenario
	for _, q := range questions {
		s := Scenario{ID: q.id, Title: q.title, Want: q.want, Limit: hung, Programs: make(map[string]func(Env) error)}
		if s.ID == first {
			s.Limit = 2 * hung
		}
		for name, programs := range libraries {
			if program := programs[s.ID]; program != nil {
				s.Programs[name] = program
			}
		}
		scenarios = append(scenarios, s)
	}
	return scenarios
}
