// Package suite defines what the lab measures: the experiments, the contenders in each, and the work of one
// measurement.
package suite

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/64ed045f/weir/lab/internal/record"
)

// An Experiment is something to measure for several contenders, which take turns.
type Experiment struct {
	// ID is the name of the experiment, without a Peer. Procs is the GOMAXPROCS under which every contender runs.
	ID record.ID

	// About describes one operation in one sentence.
	About string

	Contenders []Contender

	// Together measures all contenders in one process. So it can alternate between them more often than
	// processes could. It gets a meter for each contender, in order. The contenders then have no functions.
	Together func(meters []Meter)

	// Turn is about how long one turn of one contender takes. [Plan] sets this field and the fields below
	// where they are 0.
	Turn time.Duration

	// Rounds is the number of turns of each contender.
	Rounds int

	// Limit is the time after which a turn counts as hung.
	Limit time.Duration
}

// A Contender takes part in an experiment. One of its functions is set, unless Together is set.
type Contender struct {
	Name string

	// Measure makes one measurement. It is called in a process of its own, and panics where that is impossible.
	Measure func(m *Meter)

	// Observe starts such processes itself, and returns what it has measured, without an ID.
	Observe func(ctx context.Context) (record.Result, error)
}

// A Scale says how much to measure.
type Scale struct {
	// Full is for results to be published: all experiments, ten rounds. Otherwise all suites together take
	// six minutes on two cores.
	Full bool

	// Cores is the number of cores of the machine.
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

// procs returns the values of GOMAXPROCS: in full scale 1, 2, 4, 8 and so on up to the machine's cores,
// otherwise only the number of cores.
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

// oneAndAll returns 1 and the number of cores, as values of GOMAXPROCS.
func (s Scale) oneAndAll() []int {
	if s.Cores == 1 {
		return []int{1}
	}
	return []int{1, s.Cores}
}

// rounds returns the number of rounds for an experiment whose turn takes about that long. Published results
// need ten. If one turn takes many seconds, there are fewer even in full scale, and the tables say how many.
func (s Scale) rounds(turn time.Duration) int {
	switch {
	case s.Full && turn > 4*time.Second:
		return 3
	case s.Full:
		return 10
	case turn > time.Second:
		return 3
	default:
		return 6 // the fewest rounds that give a 95 % interval
	}
}

// pick returns full in full scale, and quick otherwise.
func pick[T any](s Scale, full, quick T) T {
	if s.Full {
		return full
	}
	return quick
}

// id returns the ID of an experiment. params are keys, each followed by its value.
func id(procs int, experiment string, params ...any) record.ID {
	id := record.ID{Experiment: experiment, Procs: procs}
	for k := 0; k+1 < len(params); k += 2 {
		id.Params = append(id.Params, record.Setting{Key: params[k].(string), Value: fmt.Sprint(params[k+1])})
	}
	return id
}

// each makes an experiment for each value.
func each[T any](values []T, of func(T) Experiment) []Experiment {
	var list []Experiment
	for _, v := range values {
		list = append(list, of(v))
	}
	return list
}
