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
func Child(w io.Writer, plan []suite.Experiment, name string, target time.Duration) error {
	id, err := record.ParseID(name)
	if err != nil {
		return err
	}
	turn, err := find(plan, id)
	if err != nil {
		return err
	}
	if now := runtime.GOMAXPROCS(0); now != id.Procs {
		return fmt.Errorf("GOMAXPROCS is %d, and must be %d", now, id.Procs)
	}
	meters := make([]suite.Meter, len(turn.Contenders))
	for k := range meters {
		meters[k] = suite.Meter{Target: target}
	}
	if turn.Experiment.Together != nil {
		turn.Experiment.Together(meters)
	} else {
		peer.Alone(id.Peer)
		turn.Contenders[0].Measure(&meters[0])
	}
	var results []record.Result
	for k, m := range meters {
		m.ID, m.ID.Peer = id, turn.Contenders[k].Name
		results = append(results, m.Result)
	}
	return record.Write(w, record.File{Results: results})
}

// find returns a turn of that name, which a process can take.
func find(plan []suite.Experiment, id record.ID) (Turn, error) {
	for k := range plan {
		for _, turn := range Turns(&plan[k]) {
			here := turn.Experiment.ID
			here.Peer = turn.Peer()
			if here.String() == id.String() && turn.Contenders[0].Observe == nil {
				return turn, nil
			}
		}
	}
	return Turn{}, fmt.Errorf("no experiment is called %s", id)
}
