// Package suite holds what the lab measures: which experiments there are, which contenders take
// part in each, and what one measurement does.
package suite

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/record"
)

// An Experiment is something that can be measured of several contenders, which take
// turns at it.
type Experiment struct {
	// ID is what it is called; its Peer is empty. Procs is the GOMAXPROCS under
	// which every contender runs.
	ID record.ID

	// About says in one sentence what one operation is.
	About string

	Contenders []Contender

	// Together measures all contenders in one process, which changes among them more often than a process for each of
	// them could. There is a meter for each, in their order, and no contender has a function then.
	Together func(meters []Meter)

	// Turn is about how long one turn of one contender takes. [Plan] sets it where it is 0, and so it does
	// for what follows.
	Turn time.Duration

	// Rounds is how many turns each contender has.
	Rounds int

	// Limit is the time after which a turn counts as hung.
	Limit time.Duration
}

// A Contender takes part in an experiment. One of the functions is set, unless all are measured together.
type Contender struct {
	Name string

	// Measure makes one measurement. It is called in a process of its own.
	Measure func(m *Meter) error

	// Observe starts such processes itself, by command, and returns their
	// results.
	Observe func(ctx context.Context, command child.Command) ([]record.Value, []record.Setting, error)
}

// A Scale says how much is measured.
type Scale struct {
	// Full is for results to be published: everything, ten rounds. Otherwise all
	// suites end in five minutes on two cores.
	Full bool

	// Cores is how many cores the machine has.
	Cores int

	// Rounds replaces the rounds of every experiment, unless it is 0.
	Rounds int
}

// A Suite is a set of experiments about one question.
type Suite struct {
	Name        string
	Title       string
	About       string
	Experiments func(s Scale) []Experiment

	// LeftOut says what is measured in full scale only.
	LeftOut string
}

// All returns the suites, in the order in which they run.
func All() []Suite {
	return []Suite{dispatchSuite, coldSuite, seedsSuite, surveySuite, costSuite, reuseSuite, sharingSuite, laterSuite, httpSuite, behaviourSuite}
}

// Plan returns all experiments of that scale, in the order in which they run.
func Plan(s Scale) []Experiment {
	var plan []Experiment
	for _, suite := range All() {
		for _, e := range suite.Experiments(s) {
			e.ID.Suite = suite.Name
			e.Turn = cmp.Or(e.Turn, shortTurn)
			e.Rounds = cmp.Or(s.Rounds, e.Rounds, s.rounds(e.Turn))
			e.Limit = cmp.Or(e.Limit, 10*e.Turn+20*time.Second)
			plan = append(plan, e)
		}
	}
	return plan
}

// procs are the values of GOMAXPROCS: 1, 2, 4, 8, and so on up to the machine's
// cores in full scale, and the cores alone otherwise.
func (s Scale) procs() []int {
	if !s.Full {
		return []int{s.Cores}
	}
	var list []int
	for n := 1; n <= 8 || n < s.Cores; n *= 2 {
		list = append(list, n)
	}
	if s.Cores > list[len(list)-1] {
		list = append(list, s.Cores)
	}
	return list
}

// oneAndAll are a GOMAXPROCS of 1 and of all cores.
func (s Scale) oneAndAll() []int {
	if s.Cores == 1 {
		return []int{1}
	}
	return []int{1, s.Cores}
}

// rounds of an experiment whose turn takes about that long. What is published needs
// ten; where one turn takes many seconds there are fewer even in full scale, and
// the tables say how many.
func (s Scale) rounds(turn time.Duration) int {
	switch {
	case s.Full && turn > 4*time.Second:
		return 3
	case s.Full:
		return 10
	case turn > time.Second:
		return 3
	default:
		return 6 // the fewest that have an interval at 95 %
	}
}

// pick is full in full scale and quick otherwise.
func pick[T any](s Scale, full, quick T) T {
	if s.Full {
		return full
	}
	return quick
}

// id names an experiment. Its parameters are keys, and their values.
func id(procs int, experiment string, params ...any) record.ID {
	id := record.ID{Experiment: experiment, Procs: procs}
	for k := 0; k+1 < len(params); k += 2 {
		id.Params = append(id.Params, record.Setting{Key: params[k].(string), Value: fmt.Sprint(params[k+1])})
	}
	return id
}

// each makes an experiment of each value.
func each[T any](values []T, of func(T) Experiment) []Experiment {
	var list []Experiment
	for _, v := range values {
		list = append(list, of(v))
	}
	return list
}

// measured is a contender of which the function makes a measurement.
func measured(name string, measure func(m *Meter)) Contender {
	return Contender{Name: name, Measure: func(m *Meter) error {
		measure(m)
		return nil
	}}
}
