package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// processes is a list of processes that send mails, the oldest first.
type processes struct {
	m       *mailer
	workers []worker
}

type worker struct {
	cmd   *exec.Cmd
	input io.Closer // closing it ends the process
}

// start adds a process.
func (p *processes) start(ctx context.Context) error {
	cmd, err := p.m.process(ctx, "-worker", "-server", p.m.server, "-replicas", strconv.Itoa(p.m.replicas))
	if err != nil {
		return err
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.workers = append(p.workers, worker{cmd, input})
	return nil
}

// killOldest kills the oldest process, with the mails it is sending, and returns its exit state.
func (p *processes) killOldest() *os.ProcessState {
	w := p.workers[0]
	p.workers = p.workers[1:]
	_ = w.cmd.Process.Kill() // an error means that the process has ended already;
	_ = w.cmd.Wait()         // the exit state then says how
	return w.cmd.ProcessState
}

// kill kills all processes.
func (p *processes) kill() {
	for len(p.workers) > 0 {
		p.killOldest()
	}
}

// finish ends all processes in order.
func (p *processes) finish() error {
	for len(p.workers) > 0 {
		w := p.workers[0]
		if err := w.input.Close(); err != nil {
			return err
		}
		if err := w.cmd.Wait(); err != nil {
			return fmt.Errorf("process %d: %w", w.cmd.Process.Pid, err)
		}
		p.workers = p.workers[1:]
	}
	return nil
}
