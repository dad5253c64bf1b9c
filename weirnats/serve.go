package weirnats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	// mostSeats is how many messages one pull asks for at most.
	mostSeats = 64
	// tick is how often Serve checks whether the pool is closed. Serve looks at its leases as often, or more
	// often if they are short.
	tick = 250 * time.Millisecond
	// enterTime is how long Serve, when it ends, leaves the pool to accept a puller.
	enterTime = 10 * time.Millisecond
	// mostWait is the longest time for which a pull waits on the server. A server of a cluster that is stopped
	// forgets the pull, and a client that is connected to another one does not learn of it.
	mostWait = 30 * time.Second
	// outcomeTime is how long Serve waits for the server to take an outcome when it ends.
	outcomeTime = 10 * time.Second
	// endTime is how long Serve waits for the server when it ends.
	endTime = 5 * time.Second
)

// Serve calls run with the values of messages until ctx is done, each call as a task of the pool. A message
// for which run returns nil is done, and is removed from the queue. Serve blocks until it ends. Any number of
// calls, in any number of processes, may serve one queue.
//
// When ctx is done, Serve asks for no more messages, and lets running tries go on for the [Grace]. It then
// cancels their contexts with the cause of ctx, and returns nil when they have ended. The package documentation
// describes, under Serving, how Serve shares the pool and ends, and the context and the errors of run.
//
// Serve returns [weir.ErrClosed] if the pool is closed, which ends Serve as the end of ctx does; [ErrClosed]
// if the queue was closed before; [ErrGone] if the queue does not exist any more. While the server does not
// answer, or an embedded server cannot write, Serve tries again. If the server has ended the connection for
// good, Serve returns an error.
func (q *Queue[T]) Serve(ctx context.Context, pool *weir.Pool, run func(ctx context.Context, value T) error) error {
	must(run != nil, "function must not be nil", "nil")
	queue := q.untyped()
	return queue.serve(ctx, pool, func(codec string, data []byte) (func(context.Context) error, error) {
		var value T
		err := queue.decode(codec, data, &value)
		return func(ctx context.Context) error { return run(ctx, value) }, err
	})
}

// serve calls what decode returns for each message.
func (q *queue) serve(ctx context.Context, pool *weir.Pool, decode decoder) error {
	must(ctx != nil, "context must not be nil", "nil")
	must(pool != nil, "pool must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return err
	}
	defer end()
	if ctx.Err() != nil {
		return nil
	}
	from, err := q.backend.Receive()
	if err != nil {
		return outward(q.name, err)
	}
	s := newServer(ctx, q, pool, decode, from)
	return s.serve()
}

// decoder returns the call of the function of Serve with the value that the codec decodes.
type decoder func(codec string, data []byte) (call func(context.Context) error, err error)

// server is one call of Serve.
//
// A puller is a task of the pool that has, or waits for, a place, and runs at most one message. One puller at a
// time waits for its place in the pool's queue. When that puller has its place, it joins the ready pullers. One
// ready puller leads: it pulls a message for each of them.
//
// While there are messages, the next puller already waits, and another puller leads before all messages of the
// pull have come. When there are fewer messages than pullers, the other pullers end. The leader then gives its
// place away, by Blocking, and waits for the next message alone: the queue is idle.
type server struct {
	queue  *queue
	pool   *weir.Pool
	decode decoder
	from   backend.Receiver
	ctx    context.Context // the context of Serve
	base   context.Context // the context of tasks: ctx without its deadline and cancellation

	pulls    context.Context // the context of pulls; done when Serve must end
	endPulls context.CancelCauseFunc
	wanted   chan struct{} // capacity 1: a puller is wanted
	over     chan struct{} // closed when Serve must end and holds no message

	mu         sync.Mutex
	stopping   bool
	err        error   // what Serve returns
	waiting    *puller // the puller that waits for its place
	entering   bool    // the pool has not accepted the waiting puller yet
	handedBack uint64  // Stats.HandedBack of the pool at the last look
	leaders    int     // how many pullers lead
	pulling    int     // how many messages the leaders have asked for, while messages wait
	idle       bool    // a puller without its place waits for a message
	hungry     bool    // messages wait: pull for all ready pullers
	ready      []*puller
	held       map[*task]struct{}
	turns      turnstile
	done       int // how many messages without a key are done
	asked      int // the last of these for which the server was asked for a confirmation
	sure       int // the last of these that the server has confirmed
	detached   int // how many done messages wait for their confirmation without a place

	term      time.Duration  // how long without a pull until a partition is lost
	attending sync.WaitGroup // the goroutines that serve partitions
}

// puller is one task of the pool.
type puller struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	begun  bool          // the pool has called it
	turn   chan struct{} // capacity 1: the puller has a task, leads, or must end
	task   *task
	leads  bool
}

func newServer(ctx context.Context, q *queue, pool *weir.Pool, decode decoder, from backend.Receiver) *server {
	s := &server{
		queue: q, pool: pool, decode: decode, from: from, ctx: ctx, base: context.WithoutCancel(ctx),
		wanted: make(chan struct{}, 1), over: make(chan struct{}), held: make(map[*task]struct{}),
		handedBack: pool.Stats().HandedBack, term: q.options.settings(q.name).TermTime(),
	}
	s.pulls, s.endPulls = context.WithCancelCause(s.base)
	return s
}

// serve runs on the goroutine of the caller, and hands pullers to the pool.
func (s *server) serve() error {
	stopWatching := context.AfterFunc(s.ctx, func() { s.stop(nil) })
	defer stopWatching()
	stopClose := context.AfterFunc(s.queue.open, func() { s.stop(nil) })
	defer stopClose()
	var keeper sync.WaitGroup
	kept := make(chan struct{})
	keeper.Go(func() { s.keep(kept) })
	keeper.Go(s.move)
	s.attending.Go(s.discover)
	s.want()
	for s.pulls.Err() == nil {
		select {
		case <-s.wanted:
			s.enter()
		case <-s.pulls.Done():
		}
	}
	<-s.over
	close(kept)
	keeper.Wait()
	s.attending.Wait()
	ctx, cancel := context.WithTimeout(s.base, endTime)
	defer cancel()
	if err := errors.Join(s.closeAll(ctx), s.from.Close(ctx)); err != nil {
		s.queue.options.log.Warn("weirnats: queue "+s.queue.name+": Serve could not end well; messages may be delivered again", "error", err)
	}
	return s.err
}

// want asks for a waiting puller, if there is none.
func (s *server) want() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// enter hands a puller to the pool. It may block while the pool is full.
func (s *server) enter() {
	st := &puller{turn: make(chan struct{}, 1)}
	st.ctx, st.cancel = context.WithCancelCause(s.base)
	s.mu.Lock()
	if s.stopping || s.waiting != nil {
		s.mu.Unlock()
		st.cancel(nil)
		return
	}
	s.waiting, s.entering = st, true
	s.mu.Unlock()
	err := s.pool.Go(st.ctx, func(ctx context.Context) error { return s.runPuller(ctx, st) })
	s.mu.Lock()
	s.entering = false
	if s.waiting == st && err != nil {
		s.waiting = nil
	}
	s.mu.Unlock()
	switch {
	case err == nil:
	case errors.Is(err, weir.ErrClosed):
		s.stop(weir.ErrClosed)
	default: // ErrFull: too many submitters wait there
		s.rest(10 * time.Millisecond)
		s.want()
	}
}

// rest sleeps for d, or until Serve must end.
func (s *server) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.pulls.Done():
	}
}

// stop makes Serve end.
func (s *server) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return
	}
	s.stopping, s.err = true, err
	s.endPulls(weir.ErrClosed)
	if st := s.waiting; s.entering && st != nil {
		time.AfterFunc(enterTime, func() { s.leave(st) })
	}
	s.dismiss()
	for t := range s.held {
		if t.state == unclaimed { // the puller may wait for its place for a long time
			t.state = leaving
			go s.putBack(t)
		}
	}
	if len(s.held) == 0 {
		close(s.over)
		return
	}
	grace := time.AfterFunc(s.queue.options.grace, s.cancelTasks)
	go func() {
		<-s.over
		grace.Stop()
	}()
}

// within returns a context for what a task asks the server. It ends after d, and when the server has had
// outcomeTime since Serve began to end.
func (s *server) within(d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(s.base, d)
	unwatch := context.AfterFunc(s.pulls, func() {
		timer := time.NewTimer(outcomeTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		unwatch()
		cancel()
	}
}

// leave ends a puller's wait for room in the pool. If the pool has accepted the puller, leave does nothing, and
// the puller ends when it gets its place: to cancel it would be an error in the pool.
func (s *server) leave(st *puller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entering && s.waiting == st {
		st.cancel(nil)
	}
}

// cancelTasks cancels the contexts of the tasks that still run when Serve ends. It asks the context of Serve
// without the mutex: the context may be of the program's own type, and its method may panic.
func (s *server) cancelTasks() {
	cause := context.Canceled
	defer func() {
		_ = recover()
		s.cancelAll(cause)
	}()
	cause = cmp.Or(context.Cause(s.ctx), ErrClosed)
}

// cancelAll cancels the contexts of the tasks that still run, with the error of Serve or the given cause.
func (s *server) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cause = cmp.Or(s.err, cause)
	for t := range s.held {
		t.drained = true
		t.cancel(cause)
	}
}

// dismiss ends the ready pullers. The mutex is held.
func (s *server) dismiss() {
	for _, st := range s.ready {
		st.turn <- struct{}{}
	}
	s.ready = nil
}

// runPuller is the body of a puller, a task of the pool.
func (s *server) runPuller(ctx context.Context, st *puller) error {
	s.mu.Lock()
	again := st.begun
	st.begun = true
	s.mu.Unlock()
	if again {
		return nil // the pool has a Retry of its own
	}
	defer st.cancel(nil)
	t := s.next(ctx, st)
	if t == nil {
		return nil
	}
	return s.work(ctx, t)
}

// next returns the task that the puller, which now has its place, must run; nil for none.
func (s *server) next(ctx context.Context, st *puller) *task {
	s.mu.Lock()
	if s.waiting == st {
		s.waiting = nil
	}
	if t := s.takeTurn(st); t != nil {
		s.mu.Unlock()
		return t
	}
	switch {
	case s.stopping || s.idle:
		s.mu.Unlock()
		return nil
	case s.mayLead(len(s.ready) + 1):
		s.leaders++
		s.mu.Unlock()
		return s.lead(ctx, st)
	}
	s.ready = append(s.ready, st)
	if s.hungry && len(s.ready) < mostSeats {
		s.want()
	}
	s.mu.Unlock()
	<-st.turn
	if st.leads {
		return s.lead(ctx, st)
	}
	return st.task
}

// lead pulls for the ready pullers until st itself has a message.
func (s *server) lead(ctx context.Context, st *puller) *task {
	for {
		s.mu.Lock()
		switch {
		case s.stopping:
			s.dismiss()
			s.leaders--
			s.mu.Unlock()
			return nil
		case s.hungry:
			pullers := slices.Concat(s.ready, []*puller{st})
			s.ready = nil
			s.pulling += len(pullers)
			s.want()
			s.mu.Unlock()
			more := s.pullFor(pullers)
			s.mu.Lock()
			s.pulling -= len(pullers)
			s.hungry = more
			if st.task != nil {
				s.passLead()
			}
		case s.leaders > 1:
			s.leaders--
			s.mu.Unlock()
			return nil
		default:
			s.dismiss()
			s.idle = true
			s.mu.Unlock()
			weir.Blocking(ctx, func() { st.task = s.pullOne(st) })
			paused := st.task != nil && s.pool.Stats().Paused
			s.mu.Lock()
			s.idle = false
			if paused && st.task.state == unclaimed { // in a paused pool no task may begin
				st.task.state = leaving
				go s.putBack(st.task)
				s.passLead()
				s.mu.Unlock()
				return nil
			}
			if st.task != nil && st.task.state != unclaimed {
				st.task = nil // it has gone back meanwhile
			}
			if st.task != nil {
				st.task.state = claimed
				s.hungry = st.task.delivery.More()
				s.passLead()
			}
		}
		s.mu.Unlock()
		if st.task != nil {
			return st.task
		}
	}
}

// passLead makes a ready puller lead, or asks for a puller that will. The mutex is held.
func (s *server) passLead() {
	s.leaders--
	if len(s.ready) == 0 || !s.mayLead(len(s.ready)) {
		s.want()
		return
	}
	next := s.ready[0]
	s.ready = s.ready[1:]
	next.leads = true
	s.leaders++
	next.turn <- struct{}{}
}

// mayLead reports whether one of the given number of pullers may lead. A second puller leads when there are half
// as many pullers as the first has pulled for. So the server has the next pull before it has sent all messages
// for the current one, and pulls do not become small. The mutex is held.
func (s *server) mayLead(pullers int) bool {
	return s.leaders == 0 || s.leaders == 1 && s.hungry && 2*pullers >= s.pulling
}

// pullFor takes messages for the pullers, the last of which is the leader. It ends the pullers for which there is
// no message, except the leader. It reports whether more messages wait.
func (s *server) pullFor(pullers []*puller) (more bool) {
	leader, n := pullers[len(pullers)-1], 0
	err := s.from.Pull(s.pulls, len(pullers), 0, func(d backend.Delivery) bool {
		st := pullers[n]
		t := s.hold(st, d, claimed)
		if t == nil {
			return false
		}
		n++
		more = d.More()
		st.task = t
		if st != leader {
			st.turn <- struct{}{}
		}
		return true
	})
	for _, st := range pullers[n:] {
		if st != leader {
			st.turn <- struct{}{}
		}
	}
	return err == nil && more && n == len(pullers)
}

// pullOne waits for one message while its puller has no place. It returns nil when Serve must end.
func (s *server) pullOne(st *puller) (t *task) {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	pause := least
	for s.pulls.Err() == nil {
		err := s.from.Pull(s.pulls, 1, min(s.queue.options.lease/3, mostWait), func(d backend.Delivery) bool {
			t = s.hold(st, d, unclaimed)
			return t != nil
		})
		switch {
		case t != nil:
			return t
		case err == nil:
			pause = least
			continue
		}
		switch {
		case errors.Is(err, backend.ErrCut):
			s.stop(fmt.Errorf("weirnats: queue %s: %w", s.queue.name, err))
			return nil
		case s.isGone():
			s.stop(ErrGone)
			return nil
		case pause < most && 2*pause >= most: // the trouble lasts
			s.complain("get messages", err)
		}
		s.rest(pause)
		pause = min(2*pause, most)
	}
	return nil
}

// isGone asks the server whether the queue is gone.
func (s *server) isGone() bool {
	ctx, cancel := context.WithTimeout(s.pulls, endTime)
	defer cancel()
	_, err := s.queue.backend.Stats(ctx)
	return errors.Is(err, backend.ErrGone)
}

// hold makes a task of a delivery. It returns nil if Serve must end.
func (s *server) hold(st *puller, d backend.Delivery, as state) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil
	}
	t := &task{delivery: d, state: as, sent: d.Sent(), arrived: time.Now(), cancel: st.cancel}
	s.held[t] = struct{}{}
	return t
}

// drop undoes hold.
func (s *server) drop(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, t)
	if t.detached {
		s.detached--
	}
	if t.line != nil {
		s.leaveLine(t)
	}
	if s.stopping && len(s.held) == 0 {
		close(s.over)
	}
}
