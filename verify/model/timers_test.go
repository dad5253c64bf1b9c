package model_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
)

// The models of timers, retries and hedged calls know in a bubble the time of each to the nanosecond. Where a run ends, or a turn comes, just when
// a timer is due again, either may be first: those programs are left out.

const tick = 1000 // ns between two steps, at least

// clockwork is a naive pool with timers and a rate: it looks through all of them for what happens next. There is a place for each task.
type clockwork struct {
	now     int64
	timers  []*planned
	queue   []*planned
	starts  []start
	numbers int  // how often arm was called: the turn of the last
	unclear bool // two things have happened at once, in either order
	rate    *turnstile
}

// planned is a timer.
type planned struct {
	number  int
	due     int64 // never if it is not pending
	turn    int   // among those that are due at the same time
	every   int64 // 0 for once
	lasts   int64 // its task
	queued  bool
	running int64 // until when
	missed  uint64
}

// start is that the task of a timer starts.
type start struct {
	at     int64
	number int
}

const never = math.MaxInt64

// inOrder sorts those that have started at the same time, which is left to the scheduler.
func inOrder(all []start) {
	slices.SortFunc(all, func(a, b start) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number)) })
}

// token returns when the next token is there.
func (c *clockwork) token() int64 { return int64(c.rate.next(time.Duration(c.now))) }

// advance lets time pass.
func (c *clockwork) advance(to int64) {
	for {
		var next *planned
		for _, p := range c.timers {
			if p.due <= to && (next == nil || p.due < next.due || p.due == next.due && p.turn < next.turn) {
				next = p
			}
		}
		if len(c.queue) > 0 {
			if t := c.token(); t <= to && (next == nil || t < next.due) {
				c.now = t
				c.begin()
				continue
			}
		}
		if next == nil {
			break
		}
		c.now = next.due
		c.comes(next)
	}
	c.now = to
}

// arm makes p due.
func (c *clockwork) arm(p *planned, due int64) {
	c.numbers++
	p.due, p.turn = due, c.numbers
}

// comes is that a timer is due.
func (c *clockwork) comes(p *planned) {
	p.due = never
	if p.every > 0 {
		c.unclear = c.unclear || p.running == c.now || p.queued && c.token() == c.now
		if c.arm(p, c.now+p.every); p.queued || p.running > c.now {
			p.missed++
			return
		}
	}
	p.queued = true
	c.queue = append(c.queue, p)
}

// begin is that the first of the queue starts.
func (c *clockwork) begin() {
	p := c.queue[0]
	c.queue = c.queue[1:]
	p.queued, p.running = false, c.now+p.lasts
	c.starts = append(c.starts, start{c.now, p.number})
	c.rate.take(time.Duration(c.now))
}

// drop takes a task off the queue.
func (c *clockwork) drop(p *planned) (was bool) {
	was, p.queued = p.queued, false
	c.queue = slices.DeleteFunc(c.queue, func(q *planned) bool { return q == p })
	return was
}

// workshop is a real pool next to its model.
type workshop struct {
	*rapid.T
	model  clockwork
	begin  time.Time
	pool   *weir.Pool
	timers []*weir.Timer

	mu      sync.Mutex
	starts  []start
	dropped int // timers, by the errors that OnError has got
	refused int // tasks
}

func checkLater(t *rapid.T) {
	w := &workshop{T: t, begin: time.Now()}
	opts := []weir.Option{weir.OnError(func(err error) {
		if e, ok := errors.AsType[*weir.TimersError](err); ok {
			w.dropped += e.Dropped
		} else if errors.Is(err, weir.ErrClosed) {
			w.refused++
		}
	})}
	if rapid.Bool().Draw(t, "rated") {
		w.model.rate = newTurnstile(time.Duration(tick*rapid.IntRange(1, 5).Draw(t, "per")), rapid.IntRange(1, 3).Draw(t, "burst"))
		opts = append(opts, w.model.rate.limit)
	}
	w.pool = weir.New(100, opts...)
	defer w.pool.Close()
	defer func() {
		for _, x := range w.timers {
			x.Stop()
		}
	}()
	t.Repeat(map[string]func(*rapid.T){
		"":      func(*rapid.T) { w.compare() },
		"pass":  func(t *rapid.T) { w.passes(rapid.Int64Range(1, 20).Draw(t, "ticks")) },
		"after": func(t *rapid.T) { w.adds(rapid.Int64Range(-1, 10).Draw(t, "ticks"), 0, 0) },
		"every": func(t *rapid.T) {
			every := rapid.Int64Range(1, 5).Draw(t, "ticks")
			w.adds(every, every*tick, tick*rapid.Int64Range(0, 8).Draw(t, "lasts")+tick/2)
		},
		"stop": func(t *rapid.T) {
			if i, ok := w.one(t); ok {
				m := w.model.timers[i]
				want := m.due != never || m.queued
				w.model.drop(m)
				m.due = never
				if got := w.timers[i].Stop(); got != want {
					t.Fatalf("Stop of %d is %v, want %v", i, got, want)
				}
			}
		},
		"reset": func(t *rapid.T) {
			if i, ok := w.one(t); ok {
				m, d := w.model.timers[i], tick*rapid.Int64Range(1, 10).Draw(t, "ticks")
				want := m.due != never || m.queued
				w.model.drop(m)
				if m.every > 0 {
					m.every = d
				}
				w.model.arm(m, w.model.now+d+int64(m.number)+1)
				got := w.timers[i].Reset(time.Duration(d + int64(m.number) + 1))
				if m.every > 0 {
					m.every += int64(m.number) + 1
				}
				if got != want {
					t.Fatalf("Reset of %d is %v, want %v", i, got, want)
				}
			}
		},
	})
	w.ends(rapid.Bool().Draw(t, "shutdown"))
}

// one draws a timer.
func (w *workshop) one(t *rapid.T) (int, bool) {
	if len(w.timers) == 0 {
		return 0, false
	}
	return rapid.IntRange(0, len(w.timers)-1).Draw(t, "timer"), true
}

// adds makes a timer that is due after so many ticks, and a bit, which is its own; at once for -1.
func (w *workshop) adds(ticks, every, lasts int64) {
	n := len(w.timers)
	if n == tick/4 {
		return
	}
	d := ticks*tick + int64(n) + 1
	if every > 0 {
		every = d
	}
	m := &planned{number: n, every: every, lasts: lasts, running: -1}
	w.model.timers = append(w.model.timers, m)
	w.model.arm(m, w.model.now+max(0, d))
	task := func(context.Context) {
		w.mu.Lock()
		w.starts = append(w.starts, start{int64(time.Since(w.begin)), n})
		w.mu.Unlock()
		time.Sleep(time.Duration(lasts))
	}
	if every > 0 {
		w.timers = append(w.timers, w.pool.Every(time.Duration(every), task))
	} else {
		w.timers = append(w.timers, w.pool.After(time.Duration(d), task))
	}
	w.passes(1)
}

func (w *workshop) passes(ticks int64) {
	w.model.advance(w.model.now + ticks*tick)
	time.Sleep(time.Duration(w.model.now) - time.Since(w.begin))
	synctest.Wait()
}

// compare checks that the same has started at the same times.
func (w *workshop) compare() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.model.unclear {
		w.Skip("two things have happened at once")
	}
	inOrder(w.starts)
	inOrder(w.model.starts)
	if !slices.Equal(w.starts, w.model.starts) {
		w.Fatalf("started: %v\nmodel:   %v", w.starts, w.model.starts)
	}
	for i, m := range w.model.timers {
		if got := w.timers[i].Missed(); got != m.missed {
			w.Fatalf("%d has missed %d times, want %d", i, got, m.missed)
		}
		if got, due := w.timers[i].Next(), m.due; got.IsZero() != (due == never) || !got.IsZero() && int64(got.Sub(w.begin)) != due {
			w.Fatalf("%d is due at %v, want %d", i, got.Sub(w.begin), due)
		}
	}
}

// ends closes the pool.
func (w *workshop) ends(shutdown bool) {
	pending := 0
	for _, m := range w.model.timers {
		if m.due != never && m.every == 0 {
			pending++
		}
		m.due = never
	}
	if !shutdown {
		w.model.advance(w.model.now + tick*10_000) // what is queued has its turn
		w.pool.Close()
		w.compare()
		if w.dropped != pending {
			w.Fatalf("%d timers were dropped, want %d", w.dropped, pending)
		}
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	unrun, _ := w.pool.Shutdown(ctx)
	w.pool.Close()
	if len(unrun) != pending || w.refused != len(w.model.queue) {
		w.Fatalf("Shutdown returns %d timers and reports %d tasks, want %d and %d", len(unrun), w.refused, pending, len(w.model.queue))
	}
	w.compare()
}
