// Package run carries out a plan of measurements. Each measurement runs in a process of its own. So no
// measurement finds the heap, the goroutines or the warm caches of another. A library that hangs or crashes
// spoils nothing else, and memory can be measured.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// A Turn is a turn of one contender, or of all contenders together, in one round of one experiment.
type Turn struct {
	Experiment *suite.Experiment
	Contenders []suite.Contender
}

// all is the name for all contenders, if one process measures a whole experiment.
const all = "all"

// Peer returns the name of the contender that the turn measures, or all.
func (t Turn) Peer() string {
	if t.Experiment.Together != nil {
		return all
	}
	return t.Contenders[0].Name
}

// Time returns about how long the turn takes.
func (t Turn) Time() time.Duration { return t.Experiment.Turn * time.Duration(len(t.Contenders)) }

// Runner carries out plans.
type Runner struct {
	// Arguments returns the arguments that make a process measure one contender of an experiment; see [Child].
	Arguments func(id record.ID) []string

	// Temporary is the folder for temporary files of the measuring processes.
	Temporary string

	// Keep gets each result as soon as it is there.
	Keep func(r record.Result) error

	// Run calls Before at the beginning of each turn.
	Before func(t Turn)
}

// Turns returns the turns of an experiment in order. Every contender has its first turn before any has its
// second, so that a slow minute of the machine affects all alike.
func Turns(e *suite.Experiment) []Turn {
	atOnce := 1
	if e.Together != nil {
		atOnce = len(e.Contenders)
	}
	var turns []Turn
	for range e.Rounds {
		for part := range slices.Chunk(e.Contenders, atOnce) {
			turns = append(turns, Turn{e, part})
		}
	}
	return turns
}

// Run carries out the plan until ctx is done. A contender that fails gets no more turns in that experiment;
// Run keeps its failure among the results.
func (r *Runner) Run(ctx context.Context, plan []suite.Experiment) error {
	for k := range plan {
		failed := map[string]bool{}
		for _, turn := range Turns(&plan[k]) {
			if failed[turn.Peer()] {
				continue
			}
			r.Before(turn)
			results, err := r.turn(ctx, turn)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			failed[turn.Peer()] = err != nil
			for _, result := range results {
				if err != nil {
					result = record.Failed(result.ID, err.Error())
				}
				if err := r.Keep(result); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turn returns a result for each contender of the turn. After an error, only the IDs of the results count.
func (r *Runner) turn(ctx context.Context, t Turn) ([]record.Result, error) {
	var results []record.Result
	for _, c := range t.Contenders {
		id := t.Experiment.ID
		id.Peer = c.Name
		results = append(results, record.Result{ID: id, N: 1})
	}
	if observe := t.Contenders[0].Observe; observe != nil {
		seen, err := observe(ctx)
		results[0].Values, results[0].Notes = seen.Values, seen.Notes
		return results, err
	}
	id := t.Experiment.ID
	id.Peer = t.Peer()
	found, err := r.measure(ctx, id, t.Experiment.Limit)
	for k := range results {
		at := slices.IndexFunc(found, func(f record.Result) bool { return f.ID.String() == results[k].ID.String() })
		if at < 0 {
			return results, cmp.Or(err, fmt.Errorf("the measuring process has not measured %s", results[k].ID))
		}
		results[k] = found[at]
	}
	return results, err
}

var errHung = errors.New("hung")

// measure starts a process that measures what id names, and reads its results.
func (r *Runner) measure(ctx context.Context, id record.ID, limit time.Duration) ([]record.Result, error) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, errHung)
	defer cancel()
	results, err := child.Results(child.Itself(limited, r.Arguments(id)...), id.Procs, "TMPDIR="+r.Temporary)
	if errors.Is(context.Cause(limited), errHung) {
		return nil, fmt.Errorf("no end after %v", limit)
	}
	return results, err
}
