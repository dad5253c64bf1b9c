package weir

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// OnSlow sets a function that is called once for each task that has run for longer than d, while it still runs: between d and 2d after its
// start, though not earlier than 10 ms. The pool looks for such tasks each d while it has workers; see [Pool.Running]. The option may be
// given several times, with other durations.
//
// The call comes from a goroutine of its own, for one task after the other, and no task waits for it. If it panics, that is logged. It must
// not close the pool, as Close waits for it.
func OnSlow(d time.Duration, handle func(Running)) Option {
	must(d > 0, "time of slow tasks must be more than 0", d)
	must(handle != nil, "handler of slow tasks must not be nil", "nil")
	return handlerOption(func(h *handlers) { h.onSlow = append(slices.Clone(h.onSlow), slow{d, handle}) })
}

// LogSlow logs each task that has run for longer than d, with its stack, by [log/slog.Warn]: see [OnSlow].
func LogSlow(d time.Duration) Option {
	return OnSlow(d, func(r Running) {
		attributes := []any{"for", time.Since(r.Since).Round(time.Millisecond), "stack", r.Stack()}
		if r.Pool != "" {
			attributes = append(attributes, "pool", r.Pool)
		}
		if r.Label != "" {
			attributes = append(attributes, "label", r.Label)
		}
		slog.Warn("weir: task is slow", attributes...)
	})
}

// OnFull sets a function that is called when a submitter finds the pool full, before it waits or is refused: at most once a second,
// and not while the last call has not returned. The submitter calls it. If it panics, that is logged.
func OnFull(handle func(Stats)) Option {
	must(handle != nil, "handler of a full pool must not be nil", "nil")
	return handlerOption(func(h *handlers) { h.onFull = handle })
}

// fullPause is the time between two calls of OnFull's function at least.
const fullPause = time.Second

// handlers are the functions of a pool's owner.
type handlers struct {
	onPanic func(*Panic)
	onError func(error)
	onFull  func(Stats)
	onSlow  []slow
}

// handlerOption sets one of them.
func handlerOption(set func(*handlers)) Option {
	return poolOption(func(o *options) {
		var h handlers
		if o.handlers != nil {
			h = *o.handlers
		}
		set(&h)
		o.handlers = &h
	})
}

// hooks are what a pool has of its owner, most often nothing.
type hooks struct {
	handlers
	labels *profileLabels // of the pool's name; nil without
	slow   []*slowWatch   // for onSlow

	full   sync.Mutex // held while onFull runs; no goroutine waits for it
	called time.Time  // when that was last
}

// newHooks returns nil if there are none.
func newHooks(o *options) *hooks {
	if o.labels == nil && o.handlers == nil {
		return nil
	}
	h := &hooks{labels: o.labels}
	if o.handlers != nil {
		h.handlers = *o.handlers
	}
	for _, s := range h.onSlow {
		h.slow = append(h.slow, &slowWatch{slow: s, ended: make(chan struct{}, 1), known: make(map[any]struct{})})
	}
	return h
}

// guard calls a hook. Its panic is logged.
func (r *reporter) guard(call func()) {
	defer func() {
		if value := recover(); value != nil {
			logPanic("weir: handler panicked", r.caught(value))
		}
	}()
	call()
}

// noticeFull is called by a submitter that may have to wait.
func (c *core[T]) noticeFull() {
	h := c.reporter.hooks
	if h == nil || h.onFull == nil {
		return
	}
	call := false
	race.Unseen(func() { call = h.mayTell() }) // submitters must not be ordered by it
	if !call {
		return
	}
	defer race.Unseen(h.full.Unlock)
	s := c.glance()
	if s.Closed || s.Waiting == 0 && (s.Queued < c.engine.Queue || s.Running+s.Suspended < s.Limit) {
		return
	}
	h.tells()
	c.reporter.guard(func() { h.onFull(s) })
}

// mayTell locks full, and reports whether it has, and the last call was long enough ago.
//
//go:norace
func (h *hooks) mayTell() bool {
	if !h.full.TryLock() {
		return false
	}
	if h.called.IsZero() || time.Since(h.called) >= fullPause {
		return true
	}
	h.full.Unlock()
	return false
}

//go:norace
func (h *hooks) tells() { h.called = time.Now() }

// slow is what OnSlow was given.
type slow struct {
	after  time.Duration
	handle func(Running)
}

// slowWatch looks for slow tasks as long as the pool has workers.
//
// Invariant: while the pool has a worker, armed is set or a goroutine is about to set it. Each worker looks at armed when it has become
// one of the pool; the watch that finds no worker clears armed, and looks again afterwards. Close, which finds no worker either, stops the
// watch.
type slowWatch struct {
	slow
	armed atomic.Bool

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	looking bool
	ended   chan struct{} // receives a value when a look has ended that stop waits for

	known map[any]struct{} // the tasks that the handler was called for, as far as they run
}

// arm starts the timer.
func (s *slowWatch) arm(look func(*slowWatch)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.armed.Load() {
		return
	}
	s.armed.Store(true)
	if s.timer == nil {
		s.timer = time.AfterFunc(s.pause(), func() { look(s) })
	} else {
		s.timer.Reset(s.pause())
	}
}

func (s *slowWatch) pause() time.Duration { return max(s.after, engine.ProbePause) }

// lookFor is what the timer of s calls.
func (c *core[T]) lookFor(s *slowWatch) {
	if !s.begin() {
		return
	}
	defer func() {
		if s.end(); c.stats().Workers > 0 { // also after runtime.Goexit in the handler
			s.arm(c.lookFor)
		}
	}()
	now := make(map[any]struct{})
	for _, r := range c.longer(s.after) {
		now[r.task] = struct{}{}
		if _, known := s.known[r.task]; !known && r.still() {
			s.known[r.task] = struct{}{} // before the call, which may not return
			c.reporter.guard(func() { s.handle(r) })
		}
	}
	s.known = now
}

func (s *slowWatch) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = !s.stopped
	return s.looking
}

func (s *slowWatch) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = false
	s.armed.Store(false)
	if s.stopped {
		s.ended <- struct{}{}
	}
}

// stop ends the watches of a pool that has closed, and waits for their calls until done is closed.
func (h *hooks) stop(done <-chan struct{}) {
	if h == nil {
		return
	}
	for _, s := range h.slow {
		s.mu.Lock()
		s.stopped = true
		if s.timer != nil {
			s.timer.Stop()
		}
		looking := s.looking
		s.mu.Unlock()
		if looking {
			select {
			case <-s.ended:
				s.ended <- struct{}{} // for other callers
			case <-done:
			}
		}
	}
}
