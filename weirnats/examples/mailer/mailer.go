package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// tokenName is the environment variable with the token of the server: other users of the machine may read the
// arguments of a process.
const tokenName = "MAILER_TOKEN"

const (
	// places is how many mails a process sends at once.
	places = 8
	// lease is how long a mail stays with a process that does not answer. It is this short only for the show.
	lease = time.Second
)

// retryPause is how long the program waits before it asks a server again.
const retryPause = 100 * time.Millisecond

// answerTime is how long a server may take for an answer.
const answerTime = 2 * time.Second

// mail is a message of the queue.
type mail struct{ ID, To string }

// mailer is one run of the program.
type mailer struct {
	dir       string
	mails     int
	killAfter int
	server    string
	replicas  int
	token     string

	sent atomic.Int64
}

func (m *mailer) open(ctx context.Context) (*weirnats.Queue[mail], error) {
	if m.server == "" {
		return weirnats.Open[mail](ctx, "mail", weirnats.Dir(filepath.Join(m.dir, "queue")), weirnats.Lease(lease))
	}
	for {
		queue, err := m.openServer(ctx)
		if err == nil || ctx.Err() != nil || errors.As(err, new(*weirnats.SettingsError)) {
			return queue, err
		}
		time.Sleep(retryPause) // a cluster takes a moment to elect its leaders
	}
}

func (m *mailer) openServer(ctx context.Context) (*weirnats.Queue[mail], error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return weirnats.Open[mail](ctx, "mail", weirnats.Server(m.server, nats.Token(m.token)), weirnats.Replicas(m.replicas), weirnats.Lease(lease))
}

// run puts the mails that an earlier run has not put, sends mails, and returns when all are sent.
func (m *mailer) run(ctx context.Context) error {
	queue, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer queue.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- m.serve(ctx, queue)
		stop()
	}()
	err = m.put(ctx, queue, 500*time.Microsecond) // customers come one after the other
	if err == nil {
		err = drained(ctx, queue)
	}
	stop()
	if failed := <-served; failed != nil {
		err = failed // err only says that put and drained were stopped
	}
	return err
}

// work sends mails until the input ends. It also ends when the process at the other end of the input ends.
func (m *mailer) work(ctx context.Context, input io.Reader) error {
	queue, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer queue.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, input) // only the end matters
		stop()
	}()
	return m.serve(ctx, queue)
}

// put puts all mails, with a pause before each, and notes in the outbox which mails the queue has accepted.
// If the program is killed between the two, the next run puts the mail again, and the queue drops it because
// it knows the ID.
func (m *mailer) put(ctx context.Context, queue *weirnats.Queue[mail], pause time.Duration) error {
	accepted, err := read(m.outbox())
	if err != nil {
		return err
	}
	outbox, err := appendTo(m.outbox())
	if err != nil {
		return err
	}
	defer outbox.Close()
	for i := range m.mails {
		one := mail{fmt.Sprintf("mail-%06d", i), fmt.Sprintf("customer%d@example.org", i)}
		if accepted[one.ID] > 0 {
			continue
		}
		time.Sleep(pause)
		for err := m.putOne(ctx, queue, one); err != nil; err = m.putOne(ctx, queue, one) {
			if ctx.Err() != nil || m.server == "" {
				return err
			}
			time.Sleep(retryPause) // until there is a server again; if the mail is in the queue already, the queue knows its ID
		}
		if _, err := fmt.Fprintln(outbox, one.ID); err != nil {
			return err
		}
	}
	return nil
}

func (m *mailer) putOne(ctx context.Context, queue *weirnats.Queue[mail], one mail) error {
	if m.server != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	return queue.Put(ctx, one, weirnats.ID(one.ID))
}

// serve sends mails until ctx is done.
func (m *mailer) serve(ctx context.Context, queue *weirnats.Queue[mail]) error {
	sent, err := appendTo(m.out())
	if err != nil {
		return err
	}
	defer sent.Close()
	pool := weir.New(places)
	defer pool.Close()
	return queue.Serve(ctx, pool, func(_ context.Context, one mail) error { return m.send(sent, one) })
}

// send stands for a call of a mail server. The call takes a while, and so does its answer: a process that is
// killed in between has sent a mail without knowing it. One write makes the line, so that a killed process
// writes all of it or nothing.
func (m *mailer) send(to io.Writer, one mail) error {
	time.Sleep(rand.N(4 * time.Millisecond))
	defer time.Sleep(rand.N(2 * time.Millisecond))
	if _, err := fmt.Fprintln(to, one.ID, one.To); err != nil {
		return err
	}
	if m.sent.Add(1) == int64(m.killAfter) {
		return kill()
	}
	return nil
}

// kill ends this process as the system does when it runs out of memory: without any cleanup.
func kill() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // the kill takes a moment
}

// drained returns when the queue is empty.
func drained(ctx context.Context, queue *weirnats.Queue[mail]) error {
	for {
		stats, err := queue.Stats(ctx)
		if err != nil || stats.Messages == 0 {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
