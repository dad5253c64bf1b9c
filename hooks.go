package weir

import (
	"log/slog"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// OnSlow sets a function that is called once for each task that has run for longer than d, while the task
// still runs: between d and 2d after its start, or between d and 20 ms for a d below 10 ms. The pool
// looks for such tasks each d, or each 10 ms, while it has workers; see [Pool.Running]. The option may be
// given several times, with different durations.
//
// The calls come one after the other, on a goroutine of their own, and no task waits for them. A panic of
// handle is logged, also with [CrashOnPanic]. handle must not close its pool: Close waits for it, and so does
// Shutdown until its context is done. Wait of a group with workers of its own does not wait for it.
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

// OnFull sets a function that is called when a submitter finds the pool full, before the submitter waits or
// is refused. It is called at most once a second, and never twice at the same time. The pool calls handle on
// a new goroutine, and the submitter waits for it: so handle must not wait for the submitter's group, which
// counts the task already. What the submitter did before, and the previous call, synchronize before the call;
// nothing synchronizes after it, so what handle writes needs a lock or an atomic. A panic of handle is
// logged, also with [CrashOnPanic].
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
	retry  *Retrier       // of the tasks that return errors; nil for none
	rate   *RateLimit     // of the pool; nil for none
	slow   []*slowWatch   // for onSlow

	full   sync.Mutex // held while onFull runs; no goroutine waits for it
	called time.Time  // when onFull was last called
	told   race.Past  // of the calls of onFull
}

// newHooks returns nil if there are none.
func newHooks(o *options) *hooks {
	if o.labels == nil && o.handlers == nil && o.retry == nil && o.rate == nil {
		return nil
	}
	h := &hooks{labels: o.labels, retry: o.retry, rate: o.rate}
	if o.handlers != nil {
		h.handlers = *o.handlers
	}
	for _, s := range h.onSlow {
		h.slow = append(h.slow, &slowWatch{slow: s, ended: make(chan struct{}, 1), known: make(map[any]int64)})
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

// aside is guard on a new goroutine, for which it waits. The hook may end its goroutine, as [testing.T.Fatal]
// does, and the caller may be in the middle of a submission.
func (r *reporter) aside(call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.guard(call)
	}()
	<-done
}

// asideEach is aside for many hooks, which are called one after the other.
func (r *reporter) asideEach(calls []func()) {
	for len(calls) > 0 {
		r.aside(func() {
			for len(calls) > 0 {
				call := calls[0]
				calls = calls[1:] // first: the call may exit
				r.guard(call)
			}
		})
	}
}

// noticeFull is called by a submitter that may have to wait.
func (c *core) noticeFull() {
	if h := c.reporter.hooks; h != nil && h.onFull != nil {
		c.tellFull(h, c.engine.NoRoom)
	}
}

// noticeRefused is called by a submitter that found no room.
func (c *core) noticeRefused() {
	if h := c.reporter.hooks; h != nil && h.onFull != nil {
		c.tellFull(h, func() bool { return true })
	}
}

// tellFull calls onFull, if it is time for that and the pool is full.
func (c *core) tellFull(h *hooks, isFull func() bool) {
	call := false
	race.Unseen(func() { call = h.mayTell() }) // submitters must not be ordered by it
	if !call {
		return
	}
	defer race.Unseen(h.full.Unlock)
	if !isFull() {
		return
	}
	h.tells()
	s := c.glance()
	c.reporter.aside(func() {
		h.told.Acquire()
		defer h.told.Release()
		h.onFull(s)
	})
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
// Invariant: while the pool has a worker that is not about to end, the timer runs, or a look is under way, or a
// goroutine is about to start the timer. A new worker starts it after it has joined the pool, and one that is about
// to end stops it if no worker stays.
//
// There is no timer while the pool has no worker: the timer could belong to a test bubble that has ended. A
// goroutine that starts the timer has seen, under mu, a worker that stays. When that worker is about to end,
// it calls unwatchSlow, and the last one there sees that none stays.
type slowWatch struct {
	slow

	mu      sync.Mutex    // taken before that of the engine
	timer   *time.Timer   // nil while it does not run
	round   uint64        // the number of the last timer
	looking bool          // a look is under way
	stopped bool          // the pool has closed
	ended   chan struct{} // receives a value when a look has ended that stop waits for

	known map[any]int64 // the tasks that the handler was called for, as far as they run: see [engine.Busy.Task]
}

// watchSlow starts the timers of the watches for slow tasks that neither have one nor look.
func (c *core) watchSlow() {
	apart(func() {
		for _, s := range c.reporter.hooks.slow {
			c.arm(s)
		}
	})
}

func (c *core) arm(s *slowWatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil && !s.looking {
		c.rearm(s)
	}
}

// rearm starts the timer if a worker stays. The caller holds s.mu, and there is neither a timer nor a look.
//
// The timer is made anew, and not reset, as it may belong to another test bubble than the last one. It holds no pool from becoming garbage.
func (c *core) rearm(s *slowWatch) {
	if c.engine.Staying() == 0 {
		return
	}
	s.round++
	pool, watch, round := weak.Make(c), weak.Make(s), s.round
	s.timer = time.AfterFunc(max(s.after, engine.ProbePause), func() {
		if c, s := pool.Value(), watch.Value(); c != nil && s != nil && s.due(round) {
			c.lookFor(s)
		}
	})
}

// unwatchSlow is called by a worker that is about to end. If it is the last one it stops the timers.
func (c *core) unwatchSlow() {
	for _, s := range c.reporter.hooks.slow {
		c.disarm(s)
	}
}

func (c *core) disarm(s *slowWatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil || c.engine.Staying() > 0 { // a watch that looks, looks at the workers when it has done that
		return
	}
	s.timer.Stop()
	s.timer = nil
}

// due begins a look, unless its timer was stopped too late.
func (s *slowWatch) due(round uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil || s.round != round {
		return false
	}
	s.timer, s.looking = nil, true
	return true
}

// lookFor is the look that s has begun.
func (c *core) lookFor(s *slowWatch) {
	now := make(map[any]int64)
	// A measured task that has just ended has a begun of 0 for a moment. It was found after a probe that its worker had not seen, if the time is long
	// enough, so no other task is taken for it.
	exact := s.after >= engine.ProbePause
	for _, r := range c.longer(s.after) {
		begun, known := s.known[r.task]
		if known = known && (begun == 0 || begun == r.begun || exact && r.begun == 0); !known {
			if !r.still() {
				continue
			}
			begun = r.begun
			c.reporter.aside(func() { s.handle(r) })
		}
		now[r.task] = begun
	}
	s.known = now
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = false
	if s.stopped {
		s.ended <- struct{}{}
		return
	}
	c.rearm(s)
}

// stop waits for the calls of a pool that has closed, until done is closed. It has no worker, and so no timer.
func (h *hooks) stop(done <-chan struct{}) {
	if h == nil {
		return
	}
	for _, s := range h.slow {
		s.mu.Lock()
		s.stopped = true
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
