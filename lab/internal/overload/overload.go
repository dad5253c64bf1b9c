// Package overload measures HTTP servers that get more requests than they can serve. Server and load are two
// processes on one machine, and talk over the loopback interface.
package overload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A Setup describes a server and its load.
type Setup struct {
	Contender string
	Procs     int // GOMAXPROCS of the server; the load has half of it

	Slots   int           // requests that the backend serves at once
	Service time.Duration // the time to serve one request
	Queue   int           // requests that may wait, if there is a limit
	MaxWait time.Duration // how long they may wait

	Rate     int           // requests per second, regardless of earlier requests
	Length   time.Duration // how long requests come
	Patience time.Duration // the longest latency at which an answer is still useful
	Conns    int           // the most connections: if all are busy, requests wait at the client
}

// Capacity returns how many requests per second the backend can serve.
func (s Setup) Capacity() float64 { return float64(s.Slots) / s.Service.Seconds() }

// Points returns the number of points of a curve.
func (s Setup) Points() int { return int(max(1, min(30, s.Length/(100*time.Millisecond)))) }

// Interval returns the time between two points of a curve.
func (s Setup) Interval() time.Duration { return s.Length / time.Duration(s.Points()) }

// Flag is the first argument of a process that must call [Child] with the other arguments.
const Flag = "-overload"

// The parts that a process can play.
const (
	partServer = "server"
	partLoad   = "load"
)

// order is what the lab tells both processes.
type order struct {
	Setup
	Folder string    // for what the two tell each other: the server its address, and then the load when the measured span begins
	start  time.Time // of the measured span
}

// over returns when the measured span is over. The load goes on for a moment, so that the server has to shut down under load.
func (o order) over() time.Time { return o.start.Add(o.Length) }

// What the processes tell each other.
const (
	address = "address"
	start   = "start"
)

// tell tells the other process something. That cannot read a part of it.
func (o order) tell(what, text string) error {
	path := filepath.Join(o.Folder, what)
	return errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
}

// told waits until the other process has told something.
func (o order) told(what string) (string, error) {
	const longest = 30 * time.Second
	for deadline := time.Now().Add(longest); ; time.Sleep(pace) {
		text, err := os.ReadFile(filepath.Join(o.Folder, what))
		if err == nil || time.Now().After(deadline) {
			return string(text), err
		}
	}
}

// Run starts this program again as a server and as its load, with [Flag] and the arguments of [Child], and returns their figures.
func Run(ctx context.Context, setup Setup) (_ record.Result, err error) {
	folder, err := os.MkdirTemp("", "weir-lab-")
	if err != nil {
		return record.Result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	text, err := json.Marshal(order{Setup: setup, Folder: folder})
	if err != nil {
		return record.Result{}, err
	}
	var load, server record.Result
	both, ctx := errgroup.WithContext(ctx) // if one of the two fails, the other is killed
	play := func(part string, procs int, into *record.Result) {
		process := child.Itself(ctx, Flag, part, string(text))
		both.Go(func() error {
			results, err := child.Results(process, procs)
			if err != nil {
				return fmt.Errorf("the %s: %w", part, err)
			}
			*into = results[0]
			used := process.ProcessState.UserTime() + process.ProcessState.SystemTime()
			into.Add(part+"-cores", used.Seconds()/setup.Length.Seconds())
			return nil
		})
	}
	play(partServer, setup.Procs, &server)
	play(partLoad, max(1, setup.Procs/2), &load)
	if err := both.Wait(); err != nil {
		return record.Result{}, err
	}
	r := record.Result{N: 1, Values: slices.Concat(load.Values, server.Values), Notes: slices.Concat(load.Notes, server.Notes)}
	// A timer that fires late keeps the backend busy for longer. So what the backend has served is compared
	// with what it could have served at its actual time for each request.
	r.Add("busy-%", 100*r.Value("served/s")*r.Value("service-ns")/1e9/float64(setup.Slots))
	r.Add("lost", r.Value("entered")-r.Value("answered"))
	return r, nil
}

// Child plays one of the two parts, writes its figures, and returns the exit status.
func Child(part, text string, stdout, stderr io.Writer) int {
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		r := record.Result{N: 1, ID: record.ID{Suite: "overload", Experiment: part, Peer: o.Contender, Procs: o.Procs}}
		switch part {
		case partServer:
			err = serve(o, &r)
		case partLoad:
			err = offer(o, &r)
		default:
			err = fmt.Errorf("there is no part %q", part)
		}
		if err == nil {
			err = record.Write(stdout, record.File{Results: []record.Result{r}})
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
