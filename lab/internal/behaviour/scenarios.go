// Package behaviour shows what Weir and the other libraries do in situations in
// which at least one of them was seen to fail, and which of the features that a
// well-known survey compares they have.
//
// Each program does exactly what its scenario says, with a library's public
// functions and as its documentation says. It stands in that library's file.
// Where a library has no such feature there is no program. What the programs of
// several libraries share (the order of events, and what is looked at) stands in
// steps.go, surroundings.go and features.go, so that all are asked the same question.
package behaviour

import (
	"fmt"
	"time"
)

// A Scenario is one situation, and a program for each library that offers what
// it takes.
type Scenario struct {
	ID    string
	Title string // what is done
	Want  string // what a user expects

	// Limit is how long a program may go without reporting progress before it
	// counts as hung.
	Limit time.Duration

	Programs map[string]func(Env) error // by library; no entry: not offered
}

// An Env is what a program gets.
type Env struct {
	// Full says that the program may take the minutes that a rare failure needs.
	Full bool

	tell func(kind, text string)
}

// Step reports what the program does next. The lab shows it if the program makes no
// more progress.
func (e Env) Step(format string, args ...any) { e.tell(tellStep, fmt.Sprintf(format, args...)) }

// Note reports something that the lab shows with a pass. The last one counts.
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

// programs are those of one library, by scenario or feature.
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

// hung is the limit of programs that end in far less than a second if they end.
const hung = 5 * time.Second

// Scenarios returns the situations in which a library was seen to fail.
func Scenarios() []Scenario {
	return withPrograms([]Scenario{
		{
			ID: "01", Title: "limit 1, one submitter, millions of tasks that call runtime.Goexit",
			Want: "all of them run, and none waits without cause", Limit: 10 * time.Second,
		},
		{
			ID: "02", Title: "4 workers idle, the limit is lowered to 1, 4 tasks are submitted",
			Want: "1 task at once", Limit: hung,
		},
		{
			ID: "03", Title: "a nil task is submitted, then others",
			Want: "the mistake is told, at the latest by Wait, and the other tasks run", Limit: hung,
		},
		{
			ID: "04", Title: "a wait with a deadline that passes, then another (without deadlines: a second wait)",
			Want: "the later wait succeeds when the task has ended", Limit: hung,
		},
		{
			ID: "05", Title: "a limit of 1<<32",
			Want: "tasks run", Limit: hung,
		},
		{
			ID: "06", Title: "2 of 4 tasks call runtime.Goexit at limit 2, then all are waited for",
			Want: "the wait ends, the other tasks run, and whatever reports errors reports these", Limit: hung,
		},
		{
			ID: "07", Title: "a task panics, then the pool or group that ran it is used again (libraries that catch panics)",
			Want: "the panic is told once, and the next tasks succeed", Limit: hung,
		},
		{
			ID: "08", Title: "a group is used again after a Wait that returned an error (some documentation does not offer that: the detail says so)",
			Want: "the second batch starts neither cancelled nor failed", Limit: hung,
		},
		{
			ID: "09", Title: "both tasks of a pool of 2 hand 2 tasks to that pool and wait for them",
			Want: "all tasks run", Limit: hung,
		},
		{
			ID: "10", Title: "10 tasks with results, 2 of which return an error",
			Want: "10 results in the order of submission, and the error", Limit: hung,
		},
		{
			ID: "11", Title: "8 tasks in an ordered stream without a limit",
			Want: "8 tasks at once, results in order", Limit: hung,
		},
		{
			ID: "12", Title: "10 000 results at limit 1",
			Want: "at most 20 MB allocated in all", Limit: hung,
		},
		{
			ID: "13", Title: "the pool is stopped, then a task is submitted at once; 200 times",
			Want: "refused each time", Limit: hung,
		},
		{
			ID: "14", Title: "a group with a limit of its own on a pool; the context above is cancelled while members wait their turn",
			Want: "Wait returns", Limit: hung,
		},
		{
			ID: "15", Title: "a pool without a queue is busy; a part of it with a limit of its own is offered a task without waiting",
			Want: "the task is refused, or runs", Limit: hung,
		},
		{
			ID: "16", Title: "a pool is closed while 4 of the 5 tasks of a part of it wait their turn",
			Want: "every task runs, or is refused and told so", Limit: hung,
		},
		{
			ID: "17", Title: "a submission waits for room, and its context is cancelled: the call's own, or else its group's",
			Want: "the submission returns", Limit: hung,
		},
		{
			ID: "18", Title: "a group is cancelled by its first error, then gets 10 more tasks",
			Want: "none of them starts", Limit: hung,
		},
		{
			ID: "19", Title: "used in two testing/synctest bubbles, one after the other",
			Want: "both tests pass", Limit: hung,
		},
		{
			ID: "20", Title: "limits of 0 and -1",
			Want: "refused, or taken as something under which tasks run", Limit: hung,
		},
		{
			ID: "21", Title: "the package is imported, 10 pools are made, none is used",
			Want: "no goroutine is started", Limit: hung,
		},
		{
			ID: "22", Title: "several pools released as one, with a deadline that passes",
			Want: "errors.Is finds the time-out in the error", Limit: hung,
		},
		{
			ID: "23", Title: "a pool of 1 works for a request with a profiler label, then for another request",
			Want: "nothing bears the first request's label any more", Limit: hung,
		},
		{
			ID: "24", Title: "limit 1, 2 submitters at once, short tasks that count how many run; up to 20 000 rounds",
			Want: "never 2 tasks at once", Limit: hung,
		},
	})
}

// Features returns what the survey compares: its five columns.
func Features() []Scenario {
	return withPrograms([]Scenario{
		{
			ID: "reuse", Title: "workers are reused: 200 tasks at limit 4",
			Want: "far fewer goroutines than tasks", Limit: hung,
		},
		{
			ID: "context", Title: "tasks have a context that the first error cancels",
			Want: "a task that waits for its context ends", Limit: hung,
		},
		{
			ID: "wait", Title: "the library itself waits for the tasks",
			Want: "100 of 100 tasks have ended after the wait", Limit: hung,
		},
		{
			ID: "errors", Title: "a task returns an error",
			Want: "errors.Is finds it in what the wait returns", Limit: hung,
		},
		{
			ID: "resize", Title: "the limit is changed from 2 to 6 and back while tasks run",
			Want: "6 tasks at once, then 2", Limit: hung,
		},
	})
}

func withPrograms(scenarios []Scenario) []Scenario {
	libraries := byLibrary()
	for i := range scenarios {
		s := &scenarios[i]
		s.Programs = make(map[string]func(Env) error)
		for name, programs := range libraries {
			if program := programs[s.ID]; program != nil {
				s.Programs[name] = program
			}
		}
	}
	return scenarios
}
