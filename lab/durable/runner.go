package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/record"
)

// turnLimit is the longest time of a turn.
const turnLimit = 2 * time.Minute

// runner runs all turns.
type runner struct {
	contenders    []contender
	rounds, tasks int
	time          time.Duration // how long messages are put
	samples       int           // latencies to measure
	keep          func(record.Result) error
	say           func(format string, args ...any)
	folder        string // for all temporary files
	failed        int
}

// An experiment is one row of the results.
type experiment struct {
	name   string
	params []record.Setting
	always bool
	forms  bool // each form of a contender has a turn of its own
	waits  int  // messages that wait at the start
	apart  bool // another process puts the waiting messages
}

func (r *runner) experiments() (list []experiment) {
	param := func(key string, n int) record.Setting { return record.Setting{Key: key, Value: strconv.Itoa(n)} }
	for _, sync := range []string{"lazy", "always"} {
		for _, e := range []experiment{
			{name: "put", params: []record.Setting{param(puttersKey, 1)}},
			{name: "put", params: []record.Setting{param(puttersKey, 64)}},
			{name: "batch", params: []record.Setting{param("messages", atOnce)}, forms: true},
			{name: "serve", params: []record.Setting{param("waiting", r.tasks)}, waits: r.tasks},
		} {
			e.always = sync == "always"
			e.params = append(e.params, record.Setting{Key: "sync", Value: sync})
			list = append(list, e)
		}
	}
	return append(list, experiment{name: "latency"}, experiment{name: "start"},
		experiment{name: "memory", params: []record.Setting{param("waiting", 10*r.tasks)}, waits: 10 * r.tasks, apart: true})
}

// run takes all turns until ctx is done. A turn that fails has a result that says so.
func (r *runner) run(ctx context.Context) (err error) {
	if r.folder, err = os.MkdirTemp("", "durable-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	if err := os.Chmod(r.folder, 0o711); err != nil {
		return err
	}
	for range r.rounds {
		for _, e := range r.experiments() {
			for _, k := range rand.Perm(len(r.contenders)) {
				c := r.contenders[k]
				peers := []string{c.name}
				if e.forms {
					peers = nil
					for _, form := range c.forms {
						peers = append(peers, c.name+"."+form)
					}
				}
				for _, name := range peers {
					id := record.ID{Suite: "durable", Experiment: e.name, Params: e.params, Peer: name, Procs: runtime.GOMAXPROCS(0)}
					values, err := r.turn(ctx, e, c, id)
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					result := record.Result{ID: id, N: 1, Values: values}
					if err != nil {
						r.failed++
						result = record.Failed(id, err.Error())
						r.say("failed: %s: %v", id, err)
					} else {
						r.say("%s: %.5g %s", id, values[len(values)-1].Value, values[len(values)-1].Unit)
					}
					if err := r.keep(result); err != nil {
						return err
					}
				}
			}
		}
	}
	if r.failed > 0 {
		return fmt.Errorf("%d measurements failed", r.failed)
	}
	return nil
}

// turn is one measurement of one contender.
func (r *runner) turn(ctx context.Context, e experiment, c contender, id record.ID) (values []record.Value, err error) {
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	folder := filepath.Join(r.folder, "turn")
	if err := os.Mkdir(folder, 0o711); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	w := work{ID: id, Place: place{Dir: folder, Always: e.always}, Waits: e.waits, Time: r.time, Samples: r.samples}
	var server *process
	if c.server.name != "" {
		w.Place.Server = filepath.Join(folder, "server")
		begin := time.Now()
		if server, err = c.server.start(ctx, w.Place.Server, e.always); err != nil {
			return nil, err
		}
		defer server.stop()
		if e.name == "start" {
			values = append(values, record.Value{Unit: "server-ns", Value: float64(time.Since(begin))})
		}
	}
	if e.apart {
		filling := w
		filling.Fill = true
		if _, err := filling.inChild(ctx); err != nil {
			return nil, fmt.Errorf("put what waits: %w", err)
		}
		w.Waits, w.Waiting = 0, e.waits
		if server != nil {
			most := memory.Watch(50*time.Millisecond, func() uint64 { return memory.Tree(server.cmd.Process.Pid) })
			defer func() {
				values = append(values, record.Value{Unit: "server-peak-B", Value: float64(most())})
			}()
		}
	}
	measured, err := w.inChild(ctx)
	return append(measured, values...), err
}

// inChild does the work in another process.
func (w work) inChild(ctx context.Context) ([]record.Value, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	results, err := child.Results(child.Itself(ctx, childWord, string(text)), w.ID.Procs)
	if err != nil {
		return nil, err
	}
	return results[0].Values, nil
}
