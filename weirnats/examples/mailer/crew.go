package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// crew is a list of processes that send mails, the oldest first.
type crew struct {
	m       *mailer
	workers []worker
}

type worker struct {
	cmd   *exec.Cmd
	input io.Closer // closing it ends the process
}

// hire starts a process.
func (c *crew) hire(ctx context.Context) error {
	cmd, err := c.m.process(ctx, "-worker", "-server", c.m.server, "-replicas", strconv.Itoa(c.m.replicas))
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
	c.workers = append(c.workers, worker{cmd, input})
	return nil
}

// dismiss kills the oldest process, with the mails it is sending, and returns its exit state.
func (c *crew) dismiss() *os.ProcessState {
	w := c.workers[0]
	c.workers = c.workers[1:]
	_ = w.cmd.Process.Kill() // an error means that the process has ended already;
	_ = w.cmd.Wait()         // the exit state then says how
	return w.cmd.ProcessState
}

// kill kills all processes.
func (c *crew) kill() {
	for len(c.workers) > 0 {
		c.dismiss()
	}
}

// finish ends all processes in order.
func (c *crew) finish() error {
	for len(c.workers) > 0 {
		w := c.workers[0]
		if err := w.input.Close(); err != nil {
			return err
		}
		if err := w.cmd.Wait(); err != nil {
			return fmt.Errorf("process %d: %w", w.cmd.Process.Pid, err)
		}
		c.workers = c.workers[1:]
	}
	return nil
}
