// Package overload measures HTTP servers that get more requests than they can serve. The
// server and the load are processes of their own on one machine, and talk over loopback.
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

// A Setup says what a server can serve, and what it is offered.
type Setup struct {
	Contender string
	Procs     int // GOMAXPROCS of the server; the load has half of it

	Slots   int           // how many requests the backend serves at once
	Service time.Duration // how long it takes for one
	Queue   int           // how many requests may wait, where there is a limit
	MaxWait time.Duration // for how long

	Rate     int           // requests a second, whatever becomes of the earlier ones
	Length   time.Duration // for how long they come
	Patience time.Duration // the latency up to which an answer is of use
	Conns    int           // the most connections: requests beyond wait at the client
}

// Capacity is how many requests a second the backend can serve.
func (s Setup) Capacity() float64 { return float64(s.Slots) / s.Service.Seconds() }

// Points is how many a curve has.
func (s Setup) Points() int { return int(max(1, min(30, s.Length/(100*time.Millisecond)))) }

// Interval is the time between two points of a curve.
func (s Setup) Interval() time.Duration { return s.Length / time.Duration(s.Points()) }

// An Outcome is what was seen of one server.
type Outcome struct {
	Load   Tally
	Server Report

	// ServerCPU and LoadCPU are how much processor time the two took, from begin to end.
	ServerCPU, LoadCPU time.Duration

	// Lost are requests that the server has let in, and whose clients got no answer.
	Lost int
}

// Flag is the first of the arguments of a process that is to call [Child] with the
// others.
const Flag = "-overload"

// The parts that a process plays.
const (
	partServer = "server"
	partLoad   = "load"
)

// over is the line by which the load says that the measured span has passed. It goes
// on for a moment, so that the server has to shut down under load.
const over = "over"

// order is what a process gets from the lab.
type order struct {
	Setup   Setup
	Address string // of the server, for the load
	Start   int64  // when the load begins, nanoseconds since 1970
}

// warming is the time in which the load starts and opens its first connections.
const warming = 300 * time.Millisecond

// Run starts a server and its load by command, with the arguments [Flag] and those for [Child], and shuts the server down when the load has
// lasted for as long as it should.
func Run(ctx context.Context, command child.Command, setup Setup) (Outcome, error) {
	// If one of the two fails, Run ends the other.
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

// check says why the figures are no measurement of that contender, if so.
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

// A process is one of the two, as seen by the lab.
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

// line is the next one that the process says.
func (p *process) line() (string, error) {
	if p.said.Scan() {
		return p.said.Text(), nil
	}
	err := errors.Join(p.said.Err(), p.cmd.Wait())
	return "", fmt.Errorf("the %s went away: %w: %s", p.part, err, child.FirstLine(p.error.String()))
}

// result reads the last line, and waits for the end of the process.
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

// end leaves no process behind. One that has said all ends by itself. It kills
// the others: what they say matters no more.
func (p *process) end(kill func()) {
	if p.cmd.ProcessState != nil {
		return
	}
	patience := time.AfterFunc(time.Second, kill)
	defer patience.Stop()
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// Child plays one of the two parts, and returns the exit code.
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
