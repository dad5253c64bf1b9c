package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// Child is the work of a measuring process: it measures what name says, once, and writes the results. If there is a folder for
// profiles, it keeps two there.
func Child(w io.Writer, plan []suite.Experiment, name string, target time.Duration, profiles string) error {
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
	measure := func() { turn.Experiment.Together(meters) }
	if turn.Experiment.Together == nil {
		peer.Alone(id.Peer)
		measure = func() { turn.Contenders[0].Measure(&meters[0]) }
	}
	if profiles == "" {
		measure()
	} else if err := profile(filepath.Join(profiles, strings.NewReplacer("/", "_", "=", "-").Replace(name)), measure); err != nil {
		return err
	}
	var results []record.Result
	for k, m := range meters {
		m.ID, m.ID.Peer = id, turn.Contenders[k].Name
		results = append(results, m.Result)
	}
	return record.Write(w, record.File{Results: results})
}

// profile takes a CPU profile while measure runs, and then a heap profile. Their names begin with name, and end differently
// in each round.
func profile(name string, measure func()) error {
	cpu, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+"-*.cpu.pprof")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	measure()
	pprof.StopCPUProfile()
	var heap bytes.Buffer
	runtime.GC() // a heap profile has the state of the last collection
	return errors.Join(cpu.Close(), pprof.WriteHeapProfile(&heap), os.WriteFile(strings.TrimSuffix(cpu.Name(), "cpu.pprof")+"heap.pprof", heap.Bytes(), 0o644))
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
