package run

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// Child is the work of a measuring process: it measures what name says, once, and writes the results.
func Child(w io.Writer, plan []suite.Experiment, name string, target time.Duration, profiles string) error {
	id, err := record.ParseID(name)
	if err != nil {
		return err
	}
	experiment, contender, err := find(plan, id)
	if err != nil {
		return err
	}
	if now := runtime.GOMAXPROCS(0); now != id.Procs {
		return fmt.Errorf("GOMAXPROCS is %d, and must be %d", now, id.Procs)
	}
	measured := experiment.Contenders
	if contender != nil {
		peer.Alone(id.Peer)
		measured = []suite.Contender{*contender}
	}
	meters := make([]suite.Meter, len(measured))
	for k := range meters {
		meters[k] = suite.Meter{Target: target, Profiles: profiles, Name: name}
	}
	if contender == nil {
		experiment.Together(meters)
	} else if err := contender.Measure(&meters[0]); err != nil {
		return err
	}
	var results []record.Result
	for k, m := range meters {
		id.Peer = measured[k].Name
		results = append(results, record.Result{ID: id, N: m.N, Values: m.Values})
	}
	return record.Write(w, record.File{Results: results})
}

// find returns the experiment with that name, and the contender, which is nil for all.
func find(plan []suite.Experiment, id record.ID) (*suite.Experiment, *suite.Contender, error) {
	for k := range plan {
		e := &plan[k]
		here := e.ID
		if here.Peer = all; e.Together != nil && here.String() == id.String() {
			return e, nil, nil
		}
		for i := range e.Contenders {
			here.Peer = e.Contenders[i].Name
			if here.String() == id.String() && e.Contenders[i].Measure != nil {
				return e, &e.Contenders[i], nil
			}
		}
	}
	return nil, nil, fmt.Errorf("no experiment is called %s", id)
}
