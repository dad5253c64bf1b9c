package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/64ed045f/weir/weirnats"
)

// demo is the show: it runs this program in processes that it kills.
type demo struct {
	out   io.Writer
	mails int // in the first part; the others have more
	kills int // in each of the other parts

	cluster bool // only the part with a cluster
}

const (
	// workers is how many processes send mails in the later parts. These parts have more times as many mails
	// as the first.
	workers = 3
	more    = 8
	// limit is how long the show may take on a busy machine.
	limit = 2 * time.Minute
)

func (d demo) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "mailer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if d.cluster {
		return d.clustered(ctx, &mailer{dir: filepath.Join(dir, "clustered"), mails: more * d.mails, token: rand.Text()})
	}
	if err := d.alone(ctx, &mailer{dir: filepath.Join(dir, "alone"), mails: d.mails}); err != nil {
		return err
	}
	return d.together(ctx, &mailer{dir: filepath.Join(dir, "together"), mails: more * d.mails, token: rand.Text()})
}

func (d demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, format+"\n", args...) // the exit status tells the result
}

// process returns a command that runs this program. When ctx is done, the process is killed.
func (m *mailer) process(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-dir", m.dir, "-mails", strconv.Itoa(m.mails)}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), tokenName+"="+m.token), os.Stderr
	return cmd, nil
}

// alone runs one process with an embedded server. The process kills itself, and with it the server.
func (d demo) alone(ctx context.Context, m *mailer) error {
	half := m.mails / 2
	d.say("one process with an embedded server, %d mails", m.mails)
	first, err := m.process(ctx, "-kill-after", strconv.Itoa(half))
	if err != nil {
		return err
	}
	switch err := first.Run(); {
	case err == nil:
		return errors.New("the first run was not killed")
	case !errors.As(err, new(*exec.ExitError)) || ctx.Err() != nil:
		return err
	}
	accepted, err := read(m.outbox())
	if err != nil {
		return err
	}
	d.say("  the first run: %v after %d mails, of %d that it has put", first.ProcessState, half, len(accepted))
	second, err := m.process(ctx)
	if err != nil {
		return err
	}
	if err := second.Run(); err != nil {
		return fmt.Errorf("the second run: %w", err)
	}
	d.say("  the second run: all is sent")
	return d.end(m)
}

// together runs several processes on a server in this process, and kills one after the other.
func (d demo) together(ctx context.Context, m *mailer) error {
	s, err := start(filepath.Join(m.dir, "server"), m.token)
	if err != nil {
		return err
	}
	defer s.WaitForShutdown()
	defer s.Shutdown()
	m.server, m.replicas = s.ClientURL(), 1
	d.say("%d processes on one server, %d mails", workers, m.mails)
	return d.runAndKill(ctx, m, func(context.Context) error { return nil })
}

// runAndKill runs several processes, and kills one after the other. After each kill it calls fault.
func (d demo) runAndKill(ctx context.Context, m *mailer, fault func(context.Context) error) error {
	queue, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer queue.Close()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	put := make(chan error, 1)
	go func() { put <- m.put(ctx, queue, 0) }()
	all := &processes{m: m}
	defer all.kill()
	for range workers {
		if err := all.start(ctx); err != nil {
			return err
		}
	}
	for i := range d.kills {
		sent, err := done(ctx, queue, m.mails*(i+1)/(d.kills+1))
		if err != nil {
			return err
		}
		d.say("  process %d: %v, after %d mails of all", all.workers[0].cmd.Process.Pid, all.killOldest(), sent)
		if err := errors.Join(fault(ctx), all.start(ctx)); err != nil {
			return err
		}
	}
	if err := <-put; err != nil {
		return err
	}
	if _, err := done(ctx, queue, m.mails); err != nil {
		return err
	}
	if err := all.finish(); err != nil {
		return err
	}
	return d.end(m)
}

func (d demo) end(m *mailer) error {
	text, err := m.count()
	if err == nil {
		d.say("  %s", text)
	}
	return err
}

// start starts a server that only clients on this machine with the token can reach.
func start(dir, token string) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: token, NoSigs: true, NoLog: true, JetStream: true, StoreDir: dir,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(limit) {
		s.Shutdown()
		return nil, errors.New("the server does not start")
	}
	return s, nil
}

// ask is Stats with a time limit: a server that is just being killed never answers.
func ask(ctx context.Context, queue *weirnats.Queue[mail]) (weirnats.Stats, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return queue.Stats(ctx)
}

// done returns when want messages have left the queue, with the number that have. A server that does not
// answer may still be starting.
func done(ctx context.Context, queue *weirnats.Queue[mail], want int) (int, error) {
	for {
		stats, err := ask(ctx, queue)
		left := int(stats.Accepted) - stats.Messages
		if err == nil && left >= want {
			return left, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return left, context.Cause(ctx)
		}
	}
}
