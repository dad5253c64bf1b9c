// Package overload measures HTTP servers that get more requests than they can serve. Server and load are two
// processes on one machine, and talk over the loopback interface.
package overload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
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

// An Outcome is the result for one server.
type Outcome struct {
	Load   Tally
	Server Report

	// ServerCPU and LoadCPU are the processor times of the two processes, from start to end.
	ServerCPU, LoadCPU time.Duration

	// Lost counts requests that the server has accepted, and whose clients got no answer.
	Lost int
}

// Flag is the first argument of a process that must call [Child] with the other arguments.
const Flag = "-overload"

// The parts that a process can play.
const (
	partServer = "server"
	partLoad   = "load"
)

// over is the line with which the load reports the end of the measured span. The load goes on for a moment,
// so that the server has to shut down under load.
const over = "over"

// order is what the lab tells a process to do.
type order struct {
	Setup   Setup
	Address string // of the server, for the load
	Start   int64  // when the load begins, nanoseconds since 1970
}

// warming is how long the load has to start and to open its first connections.
const warming = 300 * time.Millisecond

// Run starts a server and its load by command, with [Flag] and the arguments of [Child]. It shuts the server
// down at the end of the measured span.
func Run(ctx context.Context, command child.Command, setup Setup) (Outcome, error) {
	// If one of the two fails, Run kills the other.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var outcome Outcome
	server, err := start(ctx, command, partServer, order{Setup: setup})
	if err != nil {
		return outcome, err
	}
	defer server.end(cancel)
	address, err := server.line()
	if err != nil {
		return outcome, err
	}
	begin := time.Now().Add(warming)
	load, err := start(ctx, command, partLoad, order{Setup: setup, Address: address, Start: begin.UnixNano()})
	if err != nil {
		return outcome, err
	}
	defer load.end(cancel)
	if line, err := load.line(); err != nil || line != over {
		return outcome, errors.Join(fmt.Errorf("the load said %q", line), err)
	}
	if err := server.stdin.Close(); err != nil {
		return outcome, err
	}
	if outcome.LoadCPU, err = load.result(&outcome.Load); err != nil {
		return outcome, err
	}
	if outcome.ServerCPU, err = server.result(&outcome.Server); err != nil {
		return outcome, err
	}
	outcome.Server.since(begin)
	outcome.Lost = outcome.Server.Entered - outcome.Load.Answered
	return outcome, outcome.check(setup)
}

// check returns an error if the outcome is no valid measurement of the contender.
func (o Outcome) check(setup Setup) error {
	c, err := find(setup.Contender)
	switch {
	case err != nil:
		return err
	case c.limits && o.Server.MostRunning > setup.Slots:
		return fmt.Errorf("%d requests ran at once under a limit of %d", o.Server.MostRunning, setup.Slots)
	case o.Server.ShutdownError != "":
		return fmt.Errorf("shutdown: %s", o.Server.ShutdownError)
	}
	return nil
}

// A process is the server or the load, as seen by the lab.
type process struct {
	part  string
	cmd   *exec.Cmd
	stdin io.Closer
	said  *bufio.Scanner
	error bytes.Buffer
}

func start(ctx context.Context, command child.Command, part string, o order) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p := &process{part: part, cmd: command(ctx, Flag, part, string(text))}
	procs := o.Setup.Procs
	if part == partLoad {
		procs = max(1, procs/2)
	}
	child.Prepare(p.cmd, procs)
	p.cmd.Stderr = &p.error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.said = bufio.NewScanner(stdout)
	p.said.Buffer(nil, 1<<20)
	return p, p.cmd.Start()
}

// line returns the next line of the process's output.
func (p *process) line() (string, error) {
	if p.said.Scan() {
		return p.said.Text(), nil
	}
	err := errors.Join(p.said.Err(), p.cmd.Wait())
	return "", fmt.Errorf("the %s went away: %w: %s", p.part, err, child.FirstLine(p.error.String()))
}

// result decodes the last line, and waits for the end of the process.
func (p *process) result(into any) (cpu time.Duration, err error) {
	text, err := p.line()
	if err != nil {
		return 0, err
	}
	if err := errors.Join(json.Unmarshal([]byte(text), into), p.cmd.Wait()); err != nil {
		return 0, err
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
}

// end makes sure that the process ends. A process that has reported everything ends by itself; after a second
// end kills it, as its output no longer matters.
func (p *process) end(kill func()) {
	if p.cmd.ProcessState != nil {
		return
	}
	patience := time.AfterFunc(time.Second, kill)
	defer patience.Stop()
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// Child plays one of the two parts, and returns the exit status.
func Child(part, text string, stdin io.Reader, stdout, stderr io.Writer) int {
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		switch part {
		case partServer:
			err = serve(o.Setup, stdin, stdout)
		case partLoad:
			err = offer(o, stdout)
		default:
			err = fmt.Errorf("there is no part %q", part)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
