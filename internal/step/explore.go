package step

import (
	"sync"
)

// Search says how far an exploration goes.
type Search struct {
	Bound  int    // the most preemptions: every execution with up to Bound is visited, those with the fewest first
	Most   int    // the most executions, not counting random ones; 0 for no bound
	Random int    // the number of random executions that follow
	Seed   uint64 // the seed of the first random execution; each of the others has the next number
	Depth  int    // the number of ordered events that a random execution aims at
	Whole  bool   // no execution is given up because it comes to the same as another one
}

// Result is the outcome of an exploration.
type Result struct {
	Complete   int // every execution with up to this many preemptions was visited; -1 for none
	Executions int
	GivenUp    int // executions that were given up, as they came to the same as others
	Steps      int
	Longest    int // the largest number of steps of an execution
	Failure    *Failure
}

// Failure is an execution that broke a promise.
type Failure struct {
	Message     string
	Schedule    string
	Preemptions int
	Executions  int // the number of executions up to this one
	Seed        uint64
	Trace       []string `json:"-"`
	Stack       string   // the stack of a panic
}

// endless is the most steps that an execution may have.
const endless = 20_000

// one keeps explorations apart, since operations find the present execution in a variable.
var one sync.Mutex

// Explore visits executions of the scene until one fails.
func (s *Scene) Explore(how Search) Result {
	one.Lock()
	defer one.Unlock()
	result := Result{Complete: -1}
	tooMany := func() bool { return how.Most > 0 && result.Executions >= how.Most }
	for bound := 0; bound <= how.Bound && !tooMany(); bound++ {
		search := &depthFirst{bound: bound, free: s.Free, reduces: !how.Whole}
		more := true
		for more && !tooMany() {
			if s.visit(search, &result) {
				result.Failure.Preemptions = bound
				return result
			}
			more = search.advance()
		}
		if !more {
			result.Complete = bound
		}
	}
	for i := range uint64(how.Random) {
		if s.visit(newRandom(how.Seed+i, how.Depth, result.Longest), &result) {
			result.Failure.Seed = how.Seed + i
			return result
		}
	}
	return result
}

// visit makes one execution, and reports whether it failed.
func (s *Scene) visit(c chooser, result *Result) bool {
	e := s.execute(c, endless, nil)
	result.Executions++
	if e.given {
		result.GivenUp++
	}
	result.Steps += e.moment
	result.Longest = max(result.Longest, e.moment)
	if e.failure == nil {
		return false
	}
	again := s.replay(e.deviations, new(trace))
	if again == nil {
		again = &Failure{Message: "not so in the replay, the scene depends on more than its schedule: " + e.failure.Message}
	}
	again.Schedule = schedule(e.deviations).String()
	again.Executions = result.Executions
	result.Failure = again
	return true
}

// Replay makes the one execution that a schedule describes. It returns its steps, and how it failed, or nil.
func (s *Scene) Replay(text string) (steps []string, failure *Failure, err error) {
	deviations, err := parseSchedule(text)
	if err != nil {
		return nil, nil, err
	}
	one.Lock()
	defer one.Unlock()
	t := new(trace)
	failure = s.replay(deviations, t)
	if failure != nil {
		failure.Schedule = text
	}
	return t.lines, failure, nil
}

func (s *Scene) replay(deviations schedule, t *trace) *Failure {
	e := s.execute(&replay{deviations}, endless, t)
	if e.failure != nil {
		e.failure.Trace = t.lines
	}
	return e.failure
}
