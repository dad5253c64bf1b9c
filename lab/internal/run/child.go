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

// Child is the measuring process's part: it measures what name says, once, and
// writes the result.
func Child(w io.Writer, plan []suite.Experiment, name string, target time.Duration, profiles string) error {
	id, err := record.ParseID(name)
	if err != nil {
		return err
	}
	contender, err := find(plan, id)
	if err != nil {
		return err
	}
	if now := runtime.GOMAXPROCS(0); now != id.Procs {
		return fmt.Errorf("GOMAXPROCS is %d, and must be %d", now, id.Procs)
	}
	peer.Alone(id.Peer)
	meter := &suite.Meter{Target: target, Profiles: profiles, Name: name}
	if err := contender.Measure(meter); err != nil {
		return err
	}
	return record.Write(w, record.File{Results: []record.Result{{
		ID: id, N: meter.N, Values: meter.Values,
	}}})
}

func find(plan []suite.Experiment, id record.ID) (*suite.Contender, error) {
	for k := range plan {
		e := &plan[k]
		for i := range e.Contenders {
			here := e.ID
			here.Peer = e.Contenders[i].Name
			if here.String() == id.String() && e.Contenders[i].Measure != nil {
				return &e.Contenders[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no experiment is called %s", id)
}
