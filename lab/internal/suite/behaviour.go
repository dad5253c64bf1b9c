package suite

import (
	"context"
	"time"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/record"
)

var behaviourSuite = Suite{
	Name:  "behaviour",
	Title: "Situations in which libraries of this field fail",
	About: "Each is a small program with a time limit, in a process of its own, for every library that has the feature.",
	Experiments: func(s Scale) []Experiment {
		return each(behaviour.Scenarios(), func(scenario behaviour.Scenario) Experiment {
			return observed(s, scenario, id(s.Cores, scenario.ID))
		})
	},
}

// ProgramFlag makes the lab's own program run one program of package behaviour. The scenario and the library
// follow it.
const ProgramFlag = "-program"

// quickLimit is how long a program of the quick run may go without progress before it counts as hung.
// Programs that end do so in some milliseconds. Only longest has a lot to do between two reports of progress.
const (
	quickLimit = 2 * time.Second
	longest    = "01"
)

// observed returns a scenario as an experiment. One round is enough: a program that looks for a race repeats
// it by itself.
func observed(s Scale, scenario behaviour.Scenario, id record.ID) Experiment {
	if !s.Full && scenario.ID != longest {
		scenario.Limit = min(scenario.Limit, quickLimit)
	}
	e := Experiment{ID: id, About: scenario.Title, Rounds: 1, Turn: 200 * time.Millisecond}
	for _, library := range behaviour.Libraries() {
		e.Contenders = append(e.Contenders, Contender{
			Name: library,
			Observe: func(ctx context.Context) (r record.Result, err error) {
				o, err := behaviour.Run(ctx, ProgramFlag, scenario, library, s.Full, s.Cores)
				r.Add("ns/op", float64(o.Elapsed.Nanoseconds()))
				r.Notes = []record.Setting{
					{Key: "verdict", Value: string(o.Verdict)},
					{Key: "title", Value: scenario.Title},
					{Key: "want", Value: scenario.Want},
					{Key: "detail", Value: o.Detail},
				}
				return r, err
			},
		})
	}
	return e
}
