// Package run carries out a plan of measurements. Each measurement is a process of
// its own: none finds the heap, the goroutines or the warm caches of another, a
// library that hangs or crashes spoils nothing else, and memory can be measured.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// A Turn is one contender's turn in one round of one experiment.
type Turn struct {
	Experiment *suite.Experiment
	Contender  *suite.Contender
	Round      int
}

// A Failure is a contender that hung or crashed in an experiment.
type Failure struct {
	ID     record.ID
	Reason string
}

// Runner carries out plans.
type Runner struct {
	// Command starts the lab's own program anew.
	Command suite.Command

	// Arguments are those that make a process measure one contender of an
	// experiment; see [Child].
	Arguments func(id record.ID) []string

	// Temporary is the folder for temporary files of the measuring processes.
	Temporary string

	// Keep gets each result as soon as there is one.
	Keep func(r record.Result) error

	// Before and After are called for each turn.
	Before, After func(t Turn)
}

// Turns are the turns of an experiment in their order: every contender has its
// first before any has its second, so that a slow minute of the machine meets all
// alike.
func Turns(e *suite.Experiment) []Turn {
	var turns []Turn
	for round := range e.Rounds {
		for k := range e.Contenders {
			turns = append(turns, Turn{e, &e.Contenders[k], round})
		}
	}
	return turns
}

// Run carries out the plan until ctx is done. A contender that fails gets no
// other turn in that experiment; Run keeps its failure among the results.
func (r *Runner) Run(ctx context.Context, plan []suite.Experiment) ([]Failure, error) {
	var failures []Failure
	for k := range plan {
		failed := map[string]bool{}
		for _, turn := range Turns(&plan[k]) {
			if failed[turn.Contender.Name] {
				continue
			}
			r.Before(turn)
			result, err := r.turn(ctx, turn)
			if ctx.Err() != nil {
				return failures, context.Cause(ctx)
			}
			if err != nil {
				failed[turn.Contender.Name] = true
				failures = append(failures, Failure{result.ID, err.Error()})
				result = record.Failed(result.ID, err.Error())
			}
			if err := r.Keep(result); err != nil {
				return failures, err
			}
			r.After(turn)
		}
	}
	return failures, nil
}

func (r *Runner) turn(ctx context.Context, t Turn) (record.Result, error) {
	result := record.Result{ID: t.Experiment.ID, N: 1}
	result.ID.Peer = t.Contender.Name
	if observe := t.Contender.Observe; observe != nil {
		var err error
		result.Values, result.Notes, err = observe(ctx, r.Command)
		return result, err
	}
	return r.measure(ctx, result.ID, t.Experiment.Limit)
}

var errHung = errors.New("hung")

// measure starts a process that measures one contender, and reads its result.
func (r *Runner) measure(ctx context.Context, id record.ID, limit time.Duration) (record.Result, error) {
	failed := record.Result{ID: id}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errHung)
	defer cancel()
	cmd := r.Command(limited, r.Arguments(id)...)
	child.Prepare(cmd, id.Procs, "TMPDIR="+r.Temporary)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	err := cmd.Run()
	if errors.Is(context.Cause(limited), errHung) {
		return failed, fmt.Errorf("no end after %v", limit)
	}
	if err != nil {
		return failed, fmt.Errorf("%w: %s", err, child.FirstLine(complained.String()))
	}
	f, err := record.Read(&said, "the measuring process")
	if err != nil {
		return failed, err
	}
	if len(f.Results) != 1 || f.Results[0].ID.String() != id.String() {
		return failed, fmt.Errorf("the measuring process has measured something else: %q", said.String())
	}
	return f.Results[0], nil
}
